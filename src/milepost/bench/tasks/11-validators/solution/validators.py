"""Rules for the values of a form: each gives None, or what is wrong."""

import re


def required(value):
    return "is required" if value is None or value == "" else None


def between(low, high):
    def rule(value):
        return None if value is None or low <= value <= high else f"must be from {low} to {high}"

    return rule


def matches(pattern):
    whole = re.compile(pattern)

    def rule(value):
        return None if value is None or whole.fullmatch(value) else "has the wrong form"

    return rule


def validate(values, rules):
    """The first thing that is wrong with each field, by field."""
    problems = {}
    for field, checks in rules.items():
        told = (check(values.get(field)) for check in checks)
        problem = next((message for message in told if message is not None), None)
        if problem is not None:
            problems[field] = problem
    return problems
