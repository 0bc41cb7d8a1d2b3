"""`decide` around a pydantic-ai agent: its tools ask the governor before they do anything.

The model is pydantic-ai's own `FunctionModel`, so no key and no network are needed; with a real one
only the line that makes the agent changes. Needs `flyball[openai]` or `flyball[anthropic]`.
"""

from loop_governor import LoopGovernor
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from flyball import Allow

FILES = {"cart.py": "total = price\n"}
governor = LoopGovernor("the total is wrong")
SAYS = [
    ToolCallPart("write", {"text": "total = price * n\n"}),  # too early: told what to do instead
    ToolCallPart("promise", {"goal": "It adds up.", "action": "Multiply."}),
    ToolCallPart("write", {"text": "total = price * n\n"}),
    TextPart("The total counts every piece."),
]


def model(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    """A model that follows a script: one part per turn."""
    turn = sum(isinstance(message, ModelResponse) for message in messages)
    return ModelResponse(parts=[SAYS[turn]])


agent = Agent(FunctionModel(model), retries=3)


@agent.tool_plain
def promise(goal: str, action: str) -> str:
    """Say what will be done; from then on files may be changed."""
    governor.promise(goal, "The quantity is ignored.", action, "cart.py", "pytest")
    print(f"promise: {governor.phase}")
    return "You may write now."


@agent.tool_plain
def write(text: str) -> str:
    """Write cart.py."""
    call, decision = governor.ask("edit_diff", text=text)
    print(f"write: {type(decision).__name__}")
    if not isinstance(decision, Allow):
        raise ModelRetry(decision.reason)
    FILES["cart.py"] = text
    governor.returned(call, "written", tree="t1")
    return "Written."


print(agent.run_sync("the total is wrong").output)
print(FILES["cart.py"], end="")
