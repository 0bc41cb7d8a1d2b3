"""Hide secrets: everything journaled, streamed, shown or sent passes through a `Redactor`."""

from flyball.workspace.redaction.judge import is_key_like
from flyball.workspace.redaction.redactor import HIDDEN, Redactor, Stream
from flyball.workspace.redaction.sources import secrets_in, secrets_of_project

__all__ = ["HIDDEN", "Redactor", "Stream", "is_key_like", "secrets_in", "secrets_of_project"]
