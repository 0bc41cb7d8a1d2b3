"""What requests are about."""

from __future__ import annotations

import pytest

from flyball.repair.thread_facts import (
    clearly_asks_for_repair,
    is_mere_question,
    may_ask_for_repair,
    name_asked_about,
    symbol_in,
)


@pytest.mark.parametrize(
    "request_text",
    [
        "the tests fail, fix it",
        "make the tests pass",
        "the total is wrong when the cart is empty",
        "settings are broken",
        "corrige les tests qui échouent",
        "修复失败的测试",
        "write whatever is missing so that the tests are green",
    ],
)
def test_failing_tests_may_show_what_is_wanted(request_text: str):
    assert may_ask_for_repair(request_text)
    assert clearly_asks_for_repair(request_text)


@pytest.mark.parametrize(
    "request_text",
    [
        "fix the typo in the heading",
        "change the header colour",
        "please rename x to y",
        "add error handling",
        "Could you update the README",
    ],
)
def test_no_failing_test_describes_these(request_text: str):
    assert not may_ask_for_repair(request_text)
    assert not clearly_asks_for_repair(request_text)


def test_unclear_small_request_is_inspected():
    assert may_ask_for_repair("carts behave oddly")
    assert not clearly_asks_for_repair("carts behave oddly")


@pytest.mark.parametrize(
    ("request_text", "is_question"),
    [
        ("why does it fail", True),
        ("is it broken?", True),
        ("为什么失败", True),
        ("the total is wrong", False),
        ("it whines", False),
    ],
)
def test_a_question_is_not_a_report(request_text: str, *, is_question: bool):
    assert is_mere_question(request_text) is is_question


@pytest.mark.parametrize(
    ("request_text", "name"),
    [
        ("where is the total computed?", "total"),
        ("where do we use parse_date?", "parse_date"),
        ("who calls Cart.total()?", "total"),
        ("find all uses of `shop.mean`", "mean"),
        ("what does HttpServer do?", "HttpServer"),
        ("où est défini clamp ?", "clamp"),
        ("どこで clamp を使っている？", "clamp"),
        ("where is the bug?", ""),
        ("why is the preview blank?", ""),
        ("is everything fine?", ""),
        ("", ""),
    ],
)
def test_the_name_in_question_is_found(request_text: str, name: str):
    assert symbol_in(request_text) == name


@pytest.mark.parametrize(
    ("request_text", "name"),
    [
        ("where is ErrorHandler used?", "ErrorHandler"),
        ("where is the error raised in parse_date defined?", "parse_date"),
        ("where does parse_date fail?", ""),
        ("why does test_pens fail?", ""),
    ],
)
def test_location_question_gets_no_failures(request_text: str, name: str):
    assert name_asked_about(request_text) == name
