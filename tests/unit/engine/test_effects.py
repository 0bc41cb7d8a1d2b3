"""What is written down of a provider's look at the web."""

from __future__ import annotations

from flyball.core.terms.call import WebLook
from flyball.engine.effects import LONGEST_LOOK, LONGEST_QUERY, kept_look
from flyball.workspace.redaction import Redactor

SECRET = "correct-horse-battery-staple"


def test_a_secret_is_not_halved_by_the_cut():
    head = LONGEST_LOOK * 3 // 4 - len(SECRET) // 2
    look = WebLook("w1", "web_fetch", f"{SECRET} {'q' * 9_000}", text=f"{'x' * head}{SECRET}" * 9)
    kept = kept_look(look, Redactor([SECRET]))
    told = f"{kept.about} {kept.text}"
    assert "[redacted]" in told and "horse" not in told and "battery" not in told
    assert len(kept.text) < LONGEST_LOOK + 100 and len(kept.about) < LONGEST_QUERY + 100
