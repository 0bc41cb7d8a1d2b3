"""The program that runs beside a project's tests: it traces them, or tries candidates on them."""

from __future__ import annotations

import json
import sys

from flyball.tools.repair.inside.cold_trial import try_from_scratch
from flyball.tools.repair.inside.job import Orders
from flyball.tools.repair.inside.suites import open_suite
from flyball.tools.repair.inside.trace_suite import trace_suite
from flyball.tools.repair.inside.warm_trial import try_candidates


def main(file_of_orders: str) -> None:
    """Do what the file says; everything found is written to the report as it is found."""
    with open(file_of_orders, encoding="utf-8") as file:
        orders = Orders(json.load(file))
    sys.argv = ["pytest" if orders.runner == "pytest" else "unittest"]
    if orders.task == "trace":
        open_suite(
            orders.runner, orders.args, lambda suite: trace_suite(orders, suite), explain=True
        )
    elif orders.task == "mutate":
        try_from_scratch(orders, orders.candidates)
    else:
        try_candidates(orders)
