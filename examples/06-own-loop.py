"""`decide` around a home-made loop: every call is asked about first, and a no is a sentence."""

from loop_governor import LoopGovernor

from flyball import Allow

FILES = {"cart.py": "def total(items):\n    return sum(price for price, n in items)\n"}
WANTED = [
    ("edit_diff", {"path": "cart.py", "text": "n * price"}),  # too early
    ("read", {"path": "cart.py"}),
    ("promise", {}),
    ("edit_diff", {"path": "cart.py", "text": "n * price"}),
]

governor = LoopGovernor("the total is wrong")
for tool, args in WANTED:
    if tool == "promise":
        governor.promise("It adds up.", "n is ignored.", "Multiply.", "cart.py", "pytest")
        print(f"promised; now {governor.phase}")
        continue
    call, decision = governor.ask(tool, **args)
    if not isinstance(decision, Allow):
        print(f"{tool}: {type(decision).__name__}: {decision.reason}")
        continue
    if tool == "edit_diff":
        FILES["cart.py"] = FILES["cart.py"].replace("price for", f"{args['text']} for")
    governor.returned(call, FILES["cart.py"], tree=str(hash(FILES["cart.py"])))
    print(f"{tool}: made")

spend = governor.state.spend
print(f"{spend.calls} calls, {spend.blocked} blocked of {governor.state.budget.limit}")
