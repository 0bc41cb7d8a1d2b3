"""`decide` around a LangGraph loop: a node asks the governor, an edge goes back with its sentence.

LangGraph is no dependency of Flyball: `pip install langgraph`, or `make bench` in this repository.
"""

import sys
from importlib.util import find_spec
from typing import TypedDict

from loop_governor import LoopGovernor

from flyball import Allow

if find_spec("langgraph") is None:
    sys.exit("LangGraph is not installed here: pip install langgraph, or make bench.")

from langgraph.graph import END, START, StateGraph


class Work(TypedDict):
    """What the graph passes on: how many replies were given, and the last answer."""

    turn: int
    said: str


governor = LoopGovernor("the total is wrong")
FILES = {"cart.py": "total = price\n"}
SCRIPT = ("write", "promise", "write")


def act(work: Work) -> Work:
    """One reply of the driver, governed."""
    wish = SCRIPT[work["turn"]]
    if wish == "promise":
        governor.promise("It adds up.", "n is ignored.", "Multiply.", "cart.py", "pytest")
        said = governor.phase
    else:
        call, decision = governor.ask("edit_diff", path="cart.py")
        said = type(decision).__name__
        if isinstance(decision, Allow):
            FILES["cart.py"] = "total = price * n\n"
            governor.returned(call, "written", tree="t1")
    print(f"{wish}: {said}")
    return {"turn": work["turn"] + 1, "said": said}


graph = StateGraph(Work)
graph.add_node("act", act)
graph.add_edge(START, "act")
graph.add_conditional_edges("act", lambda work: "act" if work["turn"] < len(SCRIPT) else END)
print(graph.compile().invoke({"turn": 0, "said": ""})["said"])
print(FILES["cart.py"], end="")
