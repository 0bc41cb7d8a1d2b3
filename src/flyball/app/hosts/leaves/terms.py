"""What the terms of a leave say of a payload, and of what was let pass under it before.

Nothing but the standard library is loaded here.
"""

from __future__ import annotations

import hashlib
import json
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Protocol

    class Eyes(Protocol):
        """What a hook can see by itself; loaded when it has to look, for most do not."""

        def only_looks(self, command: str, top: str) -> bool:
            """Whether a command is sure to change nothing."""
            ...

        def shown(self, top: str, apart: Iterable[str], beside: Iterable[str]) -> str:
            """What a directory looks like now, without some folders and with some files beside it.

            Nothing where nobody knows.
            """
            ...

        def host(self) -> str:
            """The process that started this hook."""
            ...


BEFORE = frozenset({"PreToolUse", "BeforeTool"})
AFTER = frozenset({"PostToolUse", "AfterTool"})
ENDS = AFTER | {"PostToolUseFailure"}
STOPS = frozenset({"Stop", "AfterAgent", "SubagentStop"})
PROMPTS = frozenset({"UserPromptSubmit", "BeforeAgent"})
QUIET = frozenset(
    {"PreCompact", "PreCompress", "PostToolBatch", "PermissionRequest", "PermissionDenied"}
)
"""Moments at which the judge has nothing to say. Gemini CLI has one before every request and Claude
Code one after every batch of calls, and to ask the judge there would end a leave each time."""
PLAIN_FIELDS = frozenset({"description", "timeout"})
"""What a shell's call may have beside its command and still be only that."""


class AskedUnderLeave:
    """A payload that comes to a leave, under which others were let pass before."""

    def __init__(
        self,
        terms: dict[str, Any],
        passed: list[dict[str, Any]],
        payload: dict[str, Any],
        eyes: Eyes,
    ) -> None:
        self._terms = terms
        self._passed = passed
        self._payload = payload
        self._eyes = eyes
        self._moment: str = payload["hook_event_name"]
        self._call, self._digest = _names_of(payload)
        self._begun = [
            each for each in passed if each["moment"] in BEFORE and not each["is_refused"]
        ]
        self._ended = {each["call"] for each in passed if each["moment"] in ENDS}

    def answer(self) -> tuple[str, dict[str, Any] | None] | None:
        """The words of a refusal, or nothing where it passes; and what is to be written down of it.

        That `waits` if somebody should take it up at once. None where the judge must be asked.
        """
        moment, terms = self._moment, self._terms
        if moment in PROMPTS:
            return ("", _line(moment, waits=True)) if self._may_wait() else None
        if any(each["waits"] for each in self._passed):
            # What comes after it belongs to a run, or is about a tree, that nobody knows yet.
            return None
        if moment in STOPS:
            is_quiet = terms["may_rest"] and not self._under_way and self._is_as_shown()
            return ("", None) if is_quiet else None
        if moment in ENDS and terms["has_untold"]:
            return None
        return self._of_call()

    def _of_call(self) -> tuple[str, dict[str, Any] | None] | None:
        traceless = self._traceless()
        if traceless is not None:
            return traceless, None
        line = _line(self._moment, call=self._call, digest=self._digest)
        if self._is_change():
            return "", {**line, "is_change": True, "waits": self._moment in ENDS}
        if any(each["is_change"] for each in self._passed):
            return None
        words = self._refusal()
        is_look = self._is_look()
        if not words and not is_look and not self._is_read():
            return None
        return words, {**line, "is_refused": bool(words), "is_look": is_look}

    def _may_wait(self) -> bool:
        """Whether a prompt can be taken up after it has passed: only a person can have said it.

        What calls this hook must be the host itself, and not something that its agent has started.
        """
        said, terms = self._payload["prompt"], self._terms
        is_persons = not self._payload.get("agent_id") and not said.lstrip().startswith("<")
        return terms["takes_prompts"] and is_persons and bool(terms["host"]) and self._is_hosts()

    def _is_hosts(self) -> bool:
        """Whether the host itself has called this hook, as far as its process is known."""
        return not self._terms["host"] or self._eyes.host() == self._terms["host"]

    def _traceless(self) -> str | None:
        """The judge's word for what leaves nothing in the journal; None where something would."""
        terms = self._terms
        if self._moment in BEFORE and not self._passed and self._digest in terms["again"]:
            words = terms["again"][self._digest]
        elif self._moment in AFTER:
            words = ""
            if self._call in {*terms["begun"], *(each["call"] for each in self._passed)}:
                return None
        else:
            return None
        return words if self._is_as_shown() else None

    def _is_as_shown(self) -> bool:
        """Whether the tree shows what it showed the judge."""
        if not self._terms["shown"]:
            return False
        mark, apart, beside = self._terms["shown"]
        return self._eyes.shown(self._terms["top"], apart, beside) == mark

    @property
    def _under_way(self) -> set[str]:
        """The calls that were let begin, and have not come back."""
        return {each["call"] for each in self._begun} - self._ended

    def _is_new(self) -> bool:
        """Whether nobody has heard of this very call before."""
        return self._digest not in {*self._terms["known"], *_digests(self._passed)}

    def _is_change(self) -> bool:
        """Whether it is a change that is sure to be allowed, or the end of one.

        As one begins the tree must show what it showed the judge: that is the snapshot before it.
        What it has come to is for the judge to see, at once and behind the hook. Nothing that an
        agent has started can speak of either.
        """
        terms = self._terms
        changing = {each["call"] for each in self._passed if each["is_change"]}
        if self._moment in ENDS:
            return self._call in {*terms["changing"], *changing} and self._is_hosts()
        is_first = self._moment in BEFORE and not changing
        if not is_first or len(self._begun) > terms["changes_after"]:
            return False
        is_known = self._digest in terms["commands_again"]
        is_sure = is_known or (self._is_new() and self._writes_named())
        return is_sure and self._is_hosts() and self._is_as_shown()

    def _writes_named(self) -> bool:
        """Whether it writes files of which the judge has spoken, and no others."""
        terms, tool, given = self._terms, self._payload["tool_name"], self._payload["tool_input"]
        names: list[str] = []
        if tool in terms["writers"]:
            names = [given[field] for field in terms["fields"] if given.get(field)]
        elif tool in terms["patchers"]:
            patches = [given[field] for field in terms["patches"] if given.get(field)]
            names = re.findall(terms["patched"], "\n".join(patches), re.MULTILINE)
        return bool(names) and all(self._inside(name) in terms["writable"] for name in names)

    def _inside(self, name: str) -> str:
        """A file as it is called from the top of the project; nothing where it is outside."""
        whole = os.path.normpath(os.path.join(self._payload["cwd"], name))
        inside = whole.removeprefix(f"{self._terms['top']}/")
        return inside if inside != whole else ""

    def _refusal(self) -> str:
        """The judge's words for a write that is sure to be refused; nothing where it is not."""
        words: str = self._terms["refused"].get(self._payload["tool_name"], "")
        if not words or self._moment not in BEFORE:
            return ""
        refused = [each for each in self._passed if each["is_refused"]]
        is_sure = self._is_new() and len(refused) < self._terms["refusals"]
        return words if is_sure and self._is_common() else ""

    def _is_common(self) -> bool:
        """Whether a call names one file of the project, and none that is judged by its name."""
        given = self._payload["tool_input"]
        named = [given[field] for field in self._terms["fields"] if given.get(field)]
        inside = self._inside(named[0]) if len(named) == 1 else ""
        return bool(inside) and not any(part.startswith(".") for part in inside.split("/"))

    def _is_look(self) -> bool:
        """Whether it is a command that only looks, or the end of one, and the tree is as it was.

        Whatever changed meanwhile, be it by the command itself, is the judge's to see.
        """
        terms = self._terms
        if not terms["shown"] or self._payload["tool_name"] not in terms["shells"]:
            return False
        if self._moment in BEFORE:
            command = self._command()
            is_sure = self._may_begin(terms["looks"]) and bool(command)
            if not is_sure or not self._eyes.only_looks(command, terms["top"]):
                return False
        elif self._moment not in AFTER or not self._is_end(is_look=True):
            return False
        return self._is_as_shown()

    def _may_begin(self, most: int) -> bool:
        """Whether one more look or read passes: a new one, or one that is under way once more.

        Of the latter the judge has said how often, if there is nothing else in between.
        """
        repeats, digest = self._terms["repeats"], self._digest
        if digest in repeats:
            is_alone = all(
                (each["moment"], each["digest"]) == (self._moment, digest) for each in self._passed
            )
            return is_alone and len(self._passed) < repeats[digest]
        known = _digests(self._begun)
        is_new = digest not in {*self._terms["known"], *known} and not known & {*repeats}
        return is_new and len(self._begun) < most

    def _command(self) -> str:
        """The command that a call is for; nothing where that is not all, or it may name us."""
        terms, given = self._terms, self._payload["tool_input"]
        named = [given[field] for field in terms["commands"] if field in given]
        text = named[0] if len(named) == 1 and isinstance(named[0], str) else ""
        is_plain = {*given} <= {*terms["commands"], *PLAIN_FIELDS}
        is_apart = not any(mark in text for mark in ("~", "$", "`", terms["state"]))
        return text if is_plain and is_apart and "flyball" not in text.lower() else ""

    def _is_end(self, *, is_look: bool) -> bool:
        """Whether a call comes back whole that was let begin, as a look or as a read."""
        known = () if is_look else self._terms["open"]
        begun = (each["call"] for each in self._begun if each["is_look"] is is_look)
        has_failed = self._payload.get("is_interrupt") or _has_failed(
            self._payload.get("tool_response")
        )
        return not has_failed and self._call in {*known, *begun} - self._ended

    def _is_read(self) -> bool:
        """Whether it is a read that passes, or the end of one."""
        if self._payload["tool_name"] not in self._terms["tools"]:
            return False
        if self._moment in BEFORE:
            return self._may_begin(self._terms["reads"])
        return self._moment in AFTER and self._is_end(is_look=False)


def _names_of(payload: dict[str, Any]) -> tuple[str, str]:
    """By what a call is told from all others, and by what the same call is known again."""
    if "tool_name" not in payload:
        return "", ""
    asked = [payload["tool_name"], payload["tool_input"]]
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    id, agent = payload.get("tool_use_id") or digest, payload.get("agent_id")
    return f"{agent}/{id}" if agent else id, digest


def _line(moment: str, *, call: str = "", digest: str = "", waits: bool = False) -> dict[str, Any]:
    """What is written down of a payload that passes, before anything is known of its kind."""
    return {
        "moment": moment,
        "call": call,
        "digest": digest,
        "is_refused": False,
        "is_look": False,
        "is_change": False,
        "waits": waits,
    }


def _digests(passed: Iterable[dict[str, Any]]) -> set[str]:
    return {each["digest"] for each in passed}


def _has_failed(response: Any) -> bool:
    try:
        return bool(response["error"])
    except (LookupError, TypeError):
        return False
