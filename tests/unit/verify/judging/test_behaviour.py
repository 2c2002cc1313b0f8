"""Which titles say that behaviour stays as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from milepost.core.task import Task
from milepost.plan.graph.groups import as_one
from milepost.verify.judging.behaviour import is_about_speed, is_about_words, keeps_behaviour


def task(title: str) -> Task:
    return Task(id="1", title=title, status="open", line=1)


@pytest.mark.parametrize(
    "title",
    [
        "Refactor the parser",
        "Simplify the tuple-keyed hook name and config dicts",
        "Clean up the nested loops in render.py",
        "Rename `load` to `read`",
        "Rename load_all to read_all in store.py",
        "Move the helper functions to util.py",
        "Extract class PriceTable from report.py",
        "Split shop.py into products.py and orders.py",
        "Reformat the code base",
        "Format the code with black",
        "Add type hints to inventory.py",
        "Document the public functions",
        "Write docstrings for geometry.py",
        "Update the README",
        "Simplify the retry logic",
        "Clean up imports",
        "Sort imports",
        "Change the loader to dataclasses, no functional changes",
        "Move UserStore into its own module",
        "Annotate all functions with types",
        "Add the missing typings of the parser",
        "Simplify and speed up nth_permutation",
        "Optimise split_words: use extend() in the place of a loop",
        "Minor performance improvements of @cached",
    ],
)
def test_a_title_that_plainly_says_so_keeps_behaviour(title: str) -> None:
    assert keeps_behaviour(task(title))


@pytest.mark.parametrize(
    "title",
    [
        "Move the cursor with arrow keys",
        "Format dates as ISO",
        "Sort the results by name",
        "Rename files from the command line",
        "Split long lines at 80 columns",
        "Merge two sorted lists",
        "Extract links from HTML",
        "Clean the input of spaces",
        "Simplify fractions",
        "Simplify dicts in the output when they are empty",
        "Clean up stale branches",
        "Simplify the syntax of queries",
        "Simplify the class booking",
        "Add a function that doubles",
        "Refactor the parser and add a flag for comments",
        "Rename `load` to `read` and raise KeyError for unknown names",
        "Document store: save and load records",
        "Types of accounts",
        "Comment on issues through the page",
        "Move a card between columns",
        "Fix the refactoring of imports",
        "Annotate images with boxes",
        "Deduplicate records in the export",
        "Reformat phone numbers",
        "Move a class to another room",
        "Simplify the import of CSV files",
        "Rename a file when its title changes",
        "Add typing indicators to the chat",
        "Optimise the route for trucks",
        "Speed up the animation",
        "Speed up load_all and add a flag for it",
        "Show performance improvements of a model",
    ],
)
def test_a_title_that_may_mean_behaviour_does_not(title: str) -> None:
    assert not keeps_behaviour(task(title))


def test_a_task_that_names_nothing_but_stubs_of_types_keeps_behaviour() -> None:
    improving = task("Improve the types of difference")
    assert keeps_behaviour(replace(improving, files=("lib/more.pyi", "typings/index.d.ts")))
    assert not keeps_behaviour(replace(improving, files=("lib/more.pyi", "lib/more.py")))
    assert not keeps_behaviour(improving)


def test_the_author_may_say_it_of_any_task() -> None:
    assert keeps_behaviour(replace(task("Use the new client"), keeps_behaviour=True))


def test_all_that_is_done_in_one_attempt_must_say_it() -> None:
    renaming, adding = task("Rename `a` to `b`"), replace(task("Add a flag"), id="2")
    assert not keeps_behaviour(replace(renaming, subtasks=(adding,)))
    assert not keeps_behaviour(as_one([renaming, adding]))
    assert keeps_behaviour(as_one([replace(renaming, id=name, files=("a.py",)) for name in ("1", "2", "3")]))


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Fix a typo in the docstring of activate()", True),
        ("Docs: explain how to use the cache", True),
        ("Fix typos in the comments", True),
        ("Comment", False),
        ("Comment on issues through the page", False),
        ("Show the docstring of a command", False),
        ("Correct typos in search queries", False),
        ("Fix the documentation and make `load` return a list", False),
        ("Document that negative hours raise, and raise", False),
        ("Add a parser", False),
    ],
)
def test_a_title_about_words_asks_for_nothing_besides(title: str, said: bool) -> None:
    assert is_about_words(task(title)) is said


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Make distance() fast: the benchmark must run in under a second", True),
        ("Make the parser faster", True),
        ("Speed up nth_permutation", True),
        ("Cache the summary of orders", True),
        ("Improve the performance of `merge`", True),
        ("Reduce the time that imports take", True),
        ("Parse in linear time", True),
        ("Make pages load faster and show a spinner", False),
        ("Cache the summary and add an option --fresh", False),
        ("Add a fast path", False),
        ("Show how fast a download is", False),
    ],
)
def test_a_title_about_speed_asks_for_nothing_besides(title: str, said: bool) -> None:
    assert is_about_speed(task(title)) is said
