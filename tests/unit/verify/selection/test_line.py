from __future__ import annotations

import pytest

from milepost.verify.selection.line import read_line
from milepost.verify.selection.selection import SelectedRunner, Selection


def chosen(runner: SelectedRunner, *words: str, folder: str = "", **env: str) -> Selection:
    return Selection(runner=runner, words=words, folder=folder, env=tuple(sorted(env.items())))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pytest tests -k 'a and b'", chosen("pytest", "tests", "-k", "a and b")),
        (".venv/bin/python -m pytest -q", chosen("pytest", "-q")),
        ("/opt/other/bin/py.test", chosen("pytest")),
        ("python3.12 -W error -m pytest x", chosen("pytest", "x")),
        ("uv run --frozen --with trio pytest x", chosen("pytest", "x")),
        ("poetry run python -m unittest tests.test_x", chosen("unittest", "tests.test_x")),
        ("coverage run --source=src -m pytest x", chosen("pytest", "x")),
        ("python -m coverage run -m unittest discover", chosen("unittest", "discover")),
        ("MODE=fast env A=b pytest", chosen("pytest", MODE="fast", A="b")),
        ("timeout -k 5 60 nice -n 5 pytest x", chosen("pytest", "x")),
        ("cd backend && cd tests && pytest -x", chosen("pytest", "-x", folder="backend/tests")),
        (". .venv/bin/activate && export A=b && pytest", chosen("pytest", A="b")),
        ("bash -c 'cd sub && pytest'", chosen("pytest", folder="sub")),
        ("npx --yes vitest run src/a", chosen("vitest", "run", "src/a")),
        ("pnpm exec jest -t hours", chosen("jest", "-t", "hours")),
        ("yarn jest a", chosen("jest", "a")),
        ("node_modules/.bin/vitest a", chosen("vitest", "a")),
        ("node --import tsx --test tests/", chosen("node", "--import", "tsx", "--test", "tests/")),
        ("go test -run Hours ./clock/...", chosen("go", "-run", "Hours", "./clock/...")),
        (
            "cargo +nightly test --test x -- --exact",
            chosen("cargo", "--test", "x", "--", "--exact", RUSTUP_TOOLCHAIN="nightly"),
        ),
    ],
)
def test_a_line_that_is_a_runner_is_its_selection(line: str, expected: Selection) -> None:
    assert (read_line(line).selections, read_line(line).is_runner) == ((expected,), True)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("ruff check . && pytest", 1),
        ("pytest a && make lint", 1),
        ("bash -c 'make && pytest'", 1),
        ("pytest a | tail -1", 0),
        ("pytest a || true", 0),
        ("pytest a; true", 0),
        ("pytest tests/test_*.py", 0),
        ("pytest $TESTS", 0),
        ("make test", 0),
        ("npm test", 0),
        ("python run_tests.py", 0),
        ("pytest --collect-only", 0),
        ("cargo test --no-run", 0),
        ("go build ./...", 0),
        ("jest --findRelatedTests a.js", 0),
        ("uv run --directory x pytest", 0),
        ("cd .. && pytest", 1),
        ("true", 0),
        ("'unclosed", 0),
    ],
)
def test_a_line_that_does_more_or_needs_a_shell_is_run_itself(line: str, found: int) -> None:
    reading = read_line(line)
    assert (len(reading.selections), reading.is_runner) == (found, False)


def test_several_runners_are_several_selections() -> None:
    reading = read_line("pytest a && pytest a && (true)")
    assert not reading.is_runner
    reading = read_line("pytest a && cargo test && pytest a")
    assert (reading.selections, reading.is_runner) == ((chosen("pytest", "a"), chosen("cargo")), True)


@pytest.mark.parametrize(
    ("line", "is_whole"),
    [
        ("pytest", True),
        ("pytest -q -x --tb=short --color=no -p no:cacheprovider --durations 5", True),
        ("pytest tests", False),
        ("pytest -k a", False),
        ("pytest -m slow", False),
        ("A=b pytest", False),
        ("python -m unittest", True),
        ("python -m unittest discover -v", True),
        ("python -m unittest discover -s tests", False),
        ("node --test", True),
        ("node --test tests", False),
        ("npx jest --ci", True),
        ("npx vitest run -t a", False),
        ("go test ./...", True),
        ("go test", False),
        ("go test -race ./...", False),
        ("cargo test --workspace -q", True),
        ("cargo test hours", False),
    ],
)
def test_a_selection_is_whole_when_no_word_chooses(line: str, is_whole: bool) -> None:
    assert [selection.is_whole for selection in read_line(line).selections] == [is_whole]
