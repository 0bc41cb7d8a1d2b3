"""Stopping: the whole story is told once, however often the governor asks for a checkpoint."""

from __future__ import annotations

from flyball.core.flow.library import LIBRARY
from flyball.core.machine.on_driver import STATE_IT
from flyball.core.terms.phase import RECON, Phase
from flyball.drivers.protocol import Reply
from flyball.drivers.repair.sentences import Words
from flyball.drivers.repair.thread_facts import ThreadFacts

ASKED = 2
"""How often the governor asks for a checkpoint before it takes silence for the end."""


def last_reply(story: ThreadFacts, phase: Phase, words: Words) -> Reply:
    """The last words: the whole of them where they end the card, a sentence where they do not."""
    template = LIBRARY.get(story.template)
    is_planning = phase.is_in(RECON) or phase is Phase.CHECKPOINT
    may_build = template is not None and Phase.CHECKPOINT in template.phases
    if is_planning and may_build and [line.text for line in story.heard].count(STATE_IT) < ASKED:
        return Reply(text=words.brief)
    return Reply(text=words.whole)
