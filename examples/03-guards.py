"""Guards: notice a doom loop from digests of what was done, not from what was said."""

from flyball import GuardLimits
from flyball.guards.guard_memory import GuardStep, Memory, remember, trips
from flyball.terms.call import digest


def watch(title: str, steps: list[GuardStep]) -> None:
    """Fold the steps and print each trip as it happens."""
    print(title)
    memory, limits = Memory(), GuardLimits()
    for n, step in enumerate(steps, 1):
        memory = remember(memory, step)
        for trip in trips(memory, limits):
            print(f"  step {n}: {trip.guard} ({trip.level.value}): {trip.reason}")
    print(f"  {len(steps)} steps seen")


call = digest(["test", {}])

watch(
    "The same call with the same outcome",
    [GuardStep(call=call, outcome=digest("1 failed"), kind="verify") for _ in range(5)],
)
watch(
    "Polling: the same call with a changed outcome",
    [GuardStep(call=call, outcome=digest(f"{n} of 9 built"), kind="verify") for n in range(9)],
)
watch(
    "Round and round between two reads",
    [GuardStep(call=digest(name), outcome=digest(name), kind="read") for name in ("a", "b") * 4],
)
