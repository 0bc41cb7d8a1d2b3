"""A recorded run judged again under another policy: what would have been blocked?"""

from loop_governor import LoopGovernor

from flyball import Policy
from flyball.record.rejudging import rejudge

governor = LoopGovernor("the total is wrong")
for n in range(6):
    call, _ = governor.ask("read", path=f"part{n}.py")
    governor.returned(call, f"text {n}")

for rounds in (150, 4):
    found = rejudge(governor.events, Policy(max_tool_rounds=rounds))
    print(f"at most {rounds} calls: {len(found.differences)} of {len(found.calls)} differ")
    for each in found.differences:
        print(f"  {each.was.tool}: {each.was.answer} → {each.now.answer} ({each.now.code})")
