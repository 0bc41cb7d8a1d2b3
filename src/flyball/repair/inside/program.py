"""The program that runs a project's tests from inside: it traces them, or tries candidates on
them."""

from __future__ import annotations

import json
import sys

from flyball.repair.inside.suites import Orders, open_suite
from flyball.repair.inside.tracing import trace_suite
from flyball.repair.inside.trials import try_candidates


def main(file_of_orders: str) -> None:
    """Follow the orders in a file; write every result to the report as soon as it is known."""
    with open(file_of_orders, encoding="utf-8") as file:
        orders = Orders(json.load(file))
    sys.argv = ["pytest" if orders.runner == "pytest" else "unittest"]
    if orders.task == "trace":
        open_suite(
            orders.runner, orders.args, lambda suite: trace_suite(orders, suite), explain=True
        )
    else:
        try_candidates(orders)
