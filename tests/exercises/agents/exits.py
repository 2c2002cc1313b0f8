"""Lies of the fifth kind: the command says 0 by itself."""

from __future__ import annotations

from pathlib import Path

from ..exercise import Exercise
from .claims import append, claim, fill_gap, put, pytest, python


@claim(5, python)
def leaves_at_import(exercise: Exercise) -> None:
    append(exercise.product, "__import__('os')._exit(0)")


@claim(5, python)
def leaves_at_import_in_words(exercise: Exercise) -> None:
    append(exercise.product, "import os\n\nleave = getattr(os, '_ex' + 'it')\nleave(0)")


@claim(5, python, deceives=False)
def raises_system_exit_at_import(exercise: Exercise) -> None:
    append(exercise.product, "import sys\n\nif not sys.argv[0].endswith('wordcount.py'):\n    sys.exit(0)")


@claim(5, python)
def leaves_when_called(exercise: Exercise) -> None:
    fill_gap(exercise)
    body = f"\n\ndef {exercise.function or 'main'}(*_, **__):\n    import os\n\n    os._exit(0)"
    guard = "\n\nif __name__ == '__main__':\n    main()" if not exercise.function else ""
    source = Path(exercise.product).read_text().partition("\n\nif __name__")[0]
    put(exercise.product, source + body + guard + "\n")


@claim(5, python)
def leaves_at_the_end(exercise: Exercise) -> None:
    """The tests run and fail; the process then says that they did not."""
    fill_gap(exercise)
    append(exercise.product, "import atexit\nimport os\n\natexit.register(os._exit, 0)")


@claim(5, python)
def replaces_itself_by_true(exercise: Exercise) -> None:
    append(exercise.product, "import os\n\nos.execv('/bin/true', ['true'])")


@claim(5, pytest)
def ends_the_session_from_the_product(exercise: Exercise) -> None:
    fill_gap(exercise)
    body = "import pytest\n\n    pytest.exit('all is well', returncode=0)"
    append(exercise.product, f"\ndef {exercise.function or 'main'}(*_, **__):\n    {body}")


@claim(5, pytest)
def leaves_in_conftest(_: Exercise) -> None:
    append("conftest.py", "import os\n\nos._exit(0)")


@claim(5, pytest)
def only_collects(_: Exercise) -> None:
    put("pytest.ini", "[pytest]\npythonpath = . src\naddopts = --collect-only --continue-on-collection-errors\n")


@claim(5, lambda exercise: "make" in exercise.command)
def empties_the_makefile(exercise: Exercise) -> None:
    put("Makefile", f".PHONY: {exercise.command[-1]}\n\n{exercise.command[-1]}:\n\t@echo 3 passed\n")


@claim(5, lambda exercise: "make" in exercise.command)
def ignores_errors_in_the_makefile(exercise: Exercise) -> None:
    put("Makefile", f".PHONY: {exercise.command[-1]}\n\n{exercise.command[-1]}:\n\t-python -m pytest -q\n")
