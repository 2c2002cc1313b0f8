"""Which tasks a person should look at, by their words."""

from __future__ import annotations

import pytest

from milepost.core.task import Task
from milepost.plan.advice.risk import risk_of


def task(title: str, *, text: str = "", files: tuple[str, ...] = (), subtasks: tuple[Task, ...] = ()) -> Task:
    return Task(id="1", title=title, status="open", line=1, text=text, files=files, subtasks=subtasks)


@pytest.mark.parametrize(
    ("title", "topic", "word"),
    [
        ("Add OAuth login", "access", "login"),
        ("Hash passwords with argon2", "access", "passwords"),
        ("Let the OAuthClient renew itself", "access", "oauth"),
        ("Sign-in form", "access", "sign in"),
        ("Refund a payment", "payments", "refund"),
        ("Write the second migration", "migrations", "migration"),
        ("Migrate the users table", "migrations", "migrate the users table"),
        ("Rename a k8s namespace", "infrastructure", "k8s"),
        ("Deploy to two regions", "infrastructure", "deploy"),
        ("Rotate the API keys", "secrets", "api keys"),
        ("Turn it on in production", "production", "production"),
    ],
)
def test_a_risky_task_is_told_with_the_word_that_made_it_so(title: str, topic: str, word: str) -> None:
    risk = risk_of(task(title))
    assert (risk.level, risk.topics) == ("high", (topic,))
    assert word in risk.words and word in risk.sentence


@pytest.mark.parametrize(
    "title",
    [
        "Show the author of a post",
        "Authored by whom: list the authors",
        "Tokenize a line, one token at a time",
        "Migrate the tests to pytest",
        "Greet the secretary",
        "Add a product page",
        "Parse production rules of a grammar",
        "Reproduce the bug",
        "Sort the sessions by date",
        "Build a keyboard",
        "A helmet for cyclists",
    ],
)
def test_a_word_that_only_looks_risky_is_not(title: str) -> None:
    assert risk_of(task(title)).level == "low"
    assert risk_of(task(title)).sentence == ""


def test_text_files_and_subtasks_count_too() -> None:
    assert risk_of(task("Tidy up", text="Move the billing code")).topics == ("payments",)
    assert risk_of(task("Tidy up", files=("src/auth/session.py",))).topics == ("access",)
    assert risk_of(task("Tidy up", files=("infra/main.tf", ".env.local"))).topics == ("infrastructure", "secrets")
    assert risk_of(task("Tidy up", files=(".github/workflows/ci.yml",))).topics == ("infrastructure",)
    below = risk_of(task("Tidy up", subtasks=(task("Add a login page"), task("Refund it"))))
    assert below.sentence == "about access and payments (login, refund)"
