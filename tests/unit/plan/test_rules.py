"""The rules of a repository for agents: which count for a task, and how much of them is shown."""

from __future__ import annotations

from milepost.plan.context.rules import LEFT_OUT, bounded, rule_paths

THERE = {"AGENTS.md", "CLAUDE.md", "shop/AGENTS.md", "shop/cart/CLAUDE.md", "other/AGENTS.md"}


def test_rules_above_the_files_of_a_task_count_the_nearest_first() -> None:
    nearest = ("shop/cart/CLAUDE.md", "shop/AGENTS.md", "AGENTS.md", "CLAUDE.md")
    assert rule_paths(("shop/cart/total.py",), THERE) == nearest
    assert rule_paths((), THERE) == rule_paths(("../x/y.py",), THERE) == ("AGENTS.md", "CLAUDE.md")


def test_rules_are_bounded_and_said_once() -> None:
    shown = bounded([("a", "same"), ("b", "same\n"), ("c", "@AGENTS.md\n"), ("d", "x" * 50), ("e", "late")], most=24)
    assert shown == (("a", "same"), ("d", f"{'x' * 20}\n{LEFT_OUT}"))
