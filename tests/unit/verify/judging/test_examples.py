"""Examples in docstrings are the base's on the bench tree, and the code around them is the candidate's."""

from __future__ import annotations

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.verify.judging.examples import files_with_examples, with_examples_of
from milepost.verify.judging.layout import BaseFacts
from milepost.verify.judging.split import split

OLD = '''"""Prices."""


def nearest(cents):
    """Rounded.

    >>> nearest(13)
    15
    """
    return cents


class Till:
    def total(self):
        """
        >>> Till().total()
        0
        """
'''
NEW_CODE = OLD.replace("return cents\n", "return (cents + 2) // 5 * 5\n").replace("Rounded.", "Rounded well.")


def test_a_file_whose_examples_are_as_they_were_stays_as_it_is() -> None:
    assert with_examples_of(OLD.encode(), NEW_CODE.encode()) == NEW_CODE.encode()


@pytest.mark.parametrize(
    "change",
    [
        NEW_CODE.replace("nearest(13)\n    15", "nearest(15)\n    15"),
        NEW_CODE.replace(">>> nearest(13)", ">>> nearest(13)  # doctest: +SKIP"),
        NEW_CODE.replace(">>> nearest(13)\n    15\n", ""),
        NEW_CODE.replace("    15\n", "    15\n    >>> nearest(1)\n    0\n"),
    ],
    ids=["rewritten", "skipped", "removed", "added"],
)
def test_changed_examples_are_the_bases_again_and_the_code_stays(change: str) -> None:
    made = (with_examples_of(OLD.encode(), change.encode()) or b"").decode()

    assert '>>> nearest(13)\n    15\n    """' in made and "(cents + 2) // 5 * 5" in made


@pytest.mark.parametrize(
    "body",
    ["    return 1\n", "    if cents:\n        return 1\n", "    @wraps\n    def inner(): pass\n    return inner\n"],
)
def test_a_docstring_that_went_comes_back(body: str) -> None:
    made = (with_examples_of(OLD.encode(), f"def nearest(cents):\n{body}".encode()) or b"").decode()

    assert made.startswith('def nearest(cents):\n    """Rounded.\n') and made.endswith(body)
    one_line = (with_examples_of(OLD.encode(), b"def nearest(cents): return 1\n") or b"").decode()
    assert ">>> nearest(13)" in one_line and one_line.endswith("; return 1\n")


def test_examples_of_what_the_base_does_not_have_are_left_out() -> None:
    added = '\n\ndef more():\n    """\n    >>> more()\n    1\n    """\n    return 1\n'

    made = (with_examples_of(OLD.encode(), (OLD + added).encode()) or b"").decode()

    assert ">>> more()" not in made and made.endswith("    return 1\n") and made.startswith(OLD)


def test_files_with_examples_are_known_by_the_names_of_what_was_run() -> None:
    ids = ("src/shop/cart.py::shop.cart.total", "src/shop/cart.py::shop.cart", "words.py::words.count")
    tests = ("tests/test_a.py::test_one", "checks/sums.py::sums_are_right", "test_b.py::test_b", "README.md::README.md")

    assert files_with_examples((*ids, *tests)) == {"src/shop/cart.py", "words.py"}


def test_a_product_file_with_other_examples_is_merged_and_its_code_is_the_product() -> None:
    base = BaseFacts(files=frozenset({"prices.py"}), examples=frozenset({"prices.py"}))
    lie = OLD.replace("nearest(13)", "nearest(15)")

    def found(after: str) -> ChangedFile:
        return ChangedFile(path="prices.py", before=OLD.encode(), after=after.encode())

    honest = split(Change(files=(found(NEW_CODE),)), (), base)
    rewritten = split(Change(files=(found(lie),)), ("prices.py",), base)

    assert (honest.judged, honest.merged, honest.examples, honest.tests) == (("prices.py",), {}, ("prices.py",), ())
    assert (rewritten.judged, rewritten.merged) == ((), {"prices.py": OLD.encode()})
    assert (rewritten.tests, rewritten.product) == (("prices.py",), ("prices.py",))
    assert not honest.changed and not rewritten.changed
