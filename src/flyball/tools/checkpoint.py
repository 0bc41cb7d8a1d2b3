"""`checkpoint`, `note` and `appeal`: statements without side effects, recorded as events."""

from __future__ import annotations

from flyball.errors import ToolError
from flyball.tools.call.protocol import CallContext, Form, Result, Text, Tool, no_facts


class CheckpointForm(Form, frozen=True, kw_only=True):
    """What was found and what will be done; every field is required."""

    goal: Text
    findings: Text
    proposed_action: Text
    files: tuple[Text, ...]
    verify_with: tuple[Text, ...]

    def __post_init__(self) -> None:
        if not self.files:
            raise ValueError("`files` is empty; name the files you expect to touch")
        if not self.verify_with:
            raise ValueError("`verify_with` is empty; say how you will verify the change")


class NoteForm(Form, frozen=True, kw_only=True):
    """A note for the card; reviewers give risk and assumptions."""

    text: str = ""
    risk: str = ""
    assumptions: tuple[str, ...] | str = ()

    def __post_init__(self) -> None:
        if not (self.text.strip() or self.risk.strip() or self.assumptions):
            raise ValueError("the note is empty; give `text`, or `risk` and `assumptions`")

    @property
    def listed_assumptions(self) -> tuple[str, ...]:
        given = self.assumptions
        return tuple(filter(None, (given,) if isinstance(given, str) else given))


class AppealForm(Form, frozen=True, kw_only=True):
    """The denied call (its id or tool), and why it should be allowed."""

    about: Text
    reason: Text


async def perform(_form: Form, _context: CallContext) -> Result:
    """Raise: the engine answers these calls with an event of their own."""
    raise ToolError("This call is recorded, not performed.")


CHECKPOINT = Tool(
    "checkpoint",
    "Say what you found and will do; nothing is changed before.",
    CheckpointForm,
    no_facts,
    perform,
    example={
        "goal": "An empty cart costs nothing",
        "findings": "total() reads the first price without asking whether there is one",
        "proposed_action": "Sum the prices instead",
        "files": ["src/cart", "tests/cart"],
        "verify_with": ["the tests in tests/cart"],
    },
)
NOTE = Tool(
    "note",
    "Note something on the card; a reviewer gives `risk` and `assumptions`.",
    NoteForm,
    no_facts,
    perform,
    example={"risk": "Callers may rely on the error", "assumptions": ["Prices are never None"]},
)
APPEAL = Tool(
    "appeal",
    "Ask a person to review a denied call.",
    AppealForm,
    no_facts,
    perform,
    example={"about": "write_file", "reason": "The migration must change this generated file"},
)
