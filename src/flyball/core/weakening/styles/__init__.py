"""Tests in languages without a parser of ours: what is a test, an assertion, a skip, a row."""

from flyball.core.weakening.styles.demand import Demand
from flyball.core.weakening.styles.script import Piece, Script, read_script

__all__ = ["Demand", "Piece", "Script", "read_script"]
