"""The context of a task: what matters most comes first, the budget holds, and what is cut says so."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.core.task import Task
from milepost.plan.advice.mentions import PERHAPS, SURELY, mentions_in
from milepost.plan.context.build_context import ContextBounds, Part, composed, rewritten
from milepost.plan.context.conventions import conventions_in, kinds_in
from milepost.plan.context.project_facts import MANIFESTS, History, Project, ProjectFacts, fact_lines, history_lines
from milepost.plan.context.repo_map import outline_within, page_rank, ranked
from milepost.plan.context.sections import (
    LARGEST_FILE,
    Done,
    FileShown,
    files_within,
    lines_within,
    memory_within,
    structure_within,
    text_within,
)
from milepost.plan.context.tokens import bytes_per_token, size_of, tokens_of
from milepost.sources.env_variables import keys_in
from milepost.sources.tags import Tags, tags_of


def task(text: str = "", *, title: str = "Do it", files: tuple[str, ...] = (), verify: tuple[str, ...] = ()) -> Task:
    return Task(id="1.1", title=title, status="open", line=1, text=text, files=files, verify=verify)


def tags(**files: str) -> dict[str, Tags]:
    found = {f"{name}.py": tags_of(f"{name}.py", text.encode()) for name, text in files.items()}
    return {path: one for path, one in found.items() if one is not None}


def parts(*texts: tuple[str, float]) -> list[Part]:
    lines = [(f"{name}", [f"{name} {number}" for number in range(500)], share) for name, share in texts]
    return [
        Part(name=name, title=name.upper(), share=share, show=partial(lines_within, said, more="lines"))
        for name, said, share in lines
    ]


# What a task mentions.

PATHS = ("src/app/parse.py", "src/app/names.py", "tests/test_parse.py", "lib/names.py", "README.md", "docs/a b.md")


@pytest.mark.parametrize(
    ("given_task", "files"),
    [
        (task(files=("src/app/parse.py",)), ("src/app/parse.py",)),
        (task(files=("./README.md",)), ("README.md",)),
        (task("see `parse.py` and `README.md`"), ("src/app/parse.py", "README.md")),
        (task("`names.py` is there twice"), ()),
        (task("`app/names.py` is there once"), ("src/app/names.py",)),
        (task("run `pytest tests/test_parse.py`"), ("tests/test_parse.py",)),
        (task(verify=("pytest -q tests/test_parse.py::test_one",)), ("tests/test_parse.py",)),
        (task(verify=("pytest 'unbalanced tests/test_parse.py",)), ("tests/test_parse.py",)),
        (task(files=("src/app/*.py",)), ("src/app/names.py", "src/app/parse.py")),
        (task("README.md without back-ticks, and `nowhere.py`"), ()),
    ],
)
def test_files_are_mentioned_by_path_by_the_end_of_one_or_in_a_command(
    given_task: Task, files: tuple[str, ...]
) -> None:
    assert mentions_in(given_task, PATHS).files == files


def test_a_file_that_is_named_and_not_there_is_missing_and_a_folder_is_one() -> None:
    found = mentions_in(task("in `src/app/`", files=("src/app/new.py", "lib/")), PATHS)
    assert (found.files, found.missing, found.folders) == ((), ("src/app/new.py",), ("lib", "src/app"))


def test_names_in_back_ticks_or_of_two_words_are_surely_meant_and_others_perhaps() -> None:
    names = mentions_in(task("Let `tick` use parse_line, HTTPServer and the reader"), PATHS).names
    assert {name: names.get(name) for name in ("tick", "parse_line", "HTTPServer", "reader", "the")} == {
        "tick": SURELY,
        "parse_line": SURELY,
        "HTTPServer": SURELY,
        "reader": PERHAPS,
        "the": None,
    }


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("``README.md`` and ```lib/names.py```", ("README.md", "lib/names.py")),
        ("`` `README.md` ``", ()),
        ("`unclosed README.md", ()),
        ("`a` README.md `lib/names.py`", ("lib/names.py",)),
    ],
)
def test_back_ticks_are_closed_by_as_many(text: str, files: tuple[str, ...]) -> None:
    assert mentions_in(task(text), PATHS).files == files


@pytest.mark.parametrize("text", ["`" * 100_000, "`a``b" * 50_000, "x " * 100_000, "`a " * 100_000])
def test_a_flood_of_back_ticks_is_read(text: str) -> None:
    assert mentions_in(task(text), PATHS).files == ()


# The map.


def test_the_definition_that_a_task_names_comes_first_and_then_what_its_file_uses() -> None:
    source = tags(
        parse="from units import Unit\n\ndef parse_duration(text):\n    return Unit(text)\n",
        units="class Unit: ...\n\ndef unit_names(): ...\n",
        report="def print_report(): ...\n",
        more="from report import print_report\nprint_report()\nprint_report()\n",
    )
    mentioned = mentions_in(task("`parse_duration` fails"), [*source])
    names = [one.definition.name for one in ranked(source, mentioned)]
    assert names[:2] == ["parse_duration", "Unit"]


def test_what_a_hinted_file_uses_goes_before_what_others_use_more_often() -> None:
    source = tags(
        hinted="from near import close_by\nclose_by()\n",
        near="def close_by(): ...\n",
        far="def often_used(): ...\n",
        **{f"user{number}": "from far import often_used\noften_used()\n" for number in range(5)},
    )
    assert ranked(source, mentions_in(task(files=("hinted.py",)), [*source]))[0].definition.name == "close_by"
    assert ranked(source, mentions_in(task(), [*source]))[0].definition.name == "often_used"


def test_a_name_of_another_language_is_another_name() -> None:
    script = tags_of("a.js", b"shared_name();\n")
    assert script is not None
    source = {**tags(b="def shared_name(): ...\n", c="def other_name(): ...\n"), "a.js": script}
    weights = {one.definition.name: one.weight for one in ranked(source, mentions_in(task(), [*source]))}
    assert weights["shared_name"] == weights["other_name"]


def test_ranks_add_up_to_one_and_do_not_depend_on_the_order_of_files() -> None:
    edges = {"a": {"b": 2.0, "c": 1.0}, "b": {"c": 1.0}}
    ranks = page_rank(["a", "b", "c", "alone"], edges, {"a": 1.0})
    assert sum(ranks.values()) == pytest.approx(1)
    assert ranks["a"] > ranks["b"] > ranks["alone"] == 0 and ranks["c"] > 0
    again = page_rank(["alone", "c", "b", "a"], edges, {"a": 1.0})
    assert {name: round(rank, 9) for name, rank in again.items()} == {n: round(r, 9) for n, r in ranks.items()}


def test_a_repository_without_code_has_no_map() -> None:
    assert ranked({}, mentions_in(task("`x`"), [])) == ()
    assert outline_within((), {}, 1000).text == ""


def test_a_method_stands_below_its_class_and_what_does_not_fit_is_counted() -> None:
    source = tags(box="class Box:\n    def grow_slowly(self): ...\n    def shrink(self): ...\n")
    best = ranked(source, mentions_in(task("`grow_slowly`"), [*source]))
    whole = ["box.py:", "    1  class Box", "    2    def grow_slowly(self)", "    3    def shrink(self)"]
    assert outline_within(best, source, 200).text.splitlines() == whole
    assert outline_within(best, source, 105).text.splitlines() == [
        *whole[:3],
        "… and 1 definitions that matter less",
    ]
    assert outline_within(best, source, 10).text == ""


# The sections.


def test_a_large_file_is_shown_in_part_with_the_number_of_lines_left_out() -> None:
    text = "\n".join(f"line {number}" for number in range(1000))
    said = text_within(text, 400)
    assert said.cut and said.text.startswith("line 0\n") and said.text.endswith("line 999")
    assert "lines left out …" in said.text and size_of(said.text) <= 400
    one_line = text_within("x" * 5000, 400)
    assert one_line.text.endswith("the rest is left out …") and size_of(one_line.text) <= 400


def test_small_files_are_shown_whole_and_the_room_that_they_leave_goes_to_large_ones() -> None:
    files = (
        FileShown(path="large.py", text="y = 1\n" * 2000),
        FileShown(path="small.py", text="x = 1\n"),
        FileShown(path="logo.png", why_not="binary, 12 bytes"),
    )
    said = files_within(files, 3000)
    assert "--- small.py ---\nx = 1\n" in said.text and "--- logo.png: binary, 12 bytes ---" in said.text
    assert 2500 < size_of(said.text) <= 3000 and said.cut
    assert files_within(files, 65).text == "--- large.py ---\n--- small.py ---\n… and 1 files"


def test_no_file_is_shown_beyond_the_largest_size() -> None:
    said = files_within((FileShown(path="huge.py", text="y = 1\n" * 50_000),), 10**6)
    assert said.cut and LARGEST_FILE * 0.9 < size_of(said.text) <= LARGEST_FILE + 100


def test_what_was_done_is_told_in_a_line_each_and_folders_near_the_task_come_first() -> None:
    done = [
        Done(task="1.1", title="Parse", files=(("a.py", "created"), ("b.py", "changed"))),
        Done(task="2", title="X"),
    ]
    assert memory_within(done, 1000).text == "- 1.1 Parse: a.py (created), b.py (changed)\n- 2 X"
    said = structure_within(["z/deep/a.py", "b.py", "a/c.py"], ["z/deep/a.py"], 1000)
    assert said.text.splitlines() == ["z/deep/: a.py", "./: b.py", "a/: c.py"]


# The budget.

ALL = (("words", 0.1), ("files", 0.5), ("outline", 0.4))


@pytest.mark.parametrize(
    ("tokens", "shown", "missing"),
    [
        (10_000, ["words", "files", "outline"], []),
        (100, ["words", "files", "outline"], []),
        (70, ["words", "files"], ["outline"]),
        (30, ["words"], ["files", "outline"]),
        (5, [], ["words", "files", "outline"]),
    ],
)
def test_what_matters_least_is_left_out_first(tokens: int, shown: list[str], missing: list[str]) -> None:
    made = composed(parts(*ALL), ContextBounds(tokens=tokens))
    assert [section.name for section in made.sections] == shown
    assert list(made.left_out) == missing


def test_what_one_section_leaves_goes_to_the_others() -> None:
    few = Part(name="few", title="FEW", share=0.9, show=partial(lines_within, ["only this"], more="lines"))
    made = composed([few, *parts(("many", 0.1))], ContextBounds(tokens=1000))
    assert made.tokens > 980 and made.sections[1].cut and not made.sections[0].cut


@given(
    tokens=st.integers(0, 3000),
    rate=st.floats(2, 6),
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=5),
    texts=st.lists(st.text(min_size=0, max_size=3000), min_size=5, max_size=5),
)
def test_the_budget_is_never_exceeded(tokens: int, rate: float, shares: list[float], texts: Sequence[str]) -> None:
    shows = (
        partial(text_within, texts[0]),
        partial(lines_within, texts[1].split("e"), more="lines"),
        partial(files_within, [FileShown(path="a", text=texts[2]), FileShown(path="b", text=texts[3])]),
        partial(structure_within, set(texts[4].split()), ()),
        partial(memory_within, [Done(task=text[:9], title=text) for text in texts]),
    )
    made_of = [
        Part(name=str(at), title="T", share=share, show=show)
        for at, (share, show) in enumerate(zip(shares, shows, strict=False))
    ]
    made = composed(made_of, ContextBounds(tokens=tokens, bytes_per_token=rate))
    assert made.tokens <= tokens and tokens_of(made.text, rate) <= tokens
    longer = rewritten(made, lambda text: text.replace("a", "[secret]"))
    assert longer.tokens <= tokens


# Tokens.


@pytest.mark.parametrize(
    ("answered", "rate"),
    [
        ([], 4.0),
        ([(3000, 1000)] * 4, 4.0),
        ([(3000, 1000)] * 4 + [(9000, 1000)], 3.0),
        ([(100_000, 1000)] * 9, 6.0),
        ([(1000, 1000)] * 9, 2.0),
        ([(0, 1000), (1000, 0)] * 9, 4.0),
    ],
)
def test_bytes_per_token_are_measured_where_enough_was_answered(answered: list[tuple[int, int]], rate: float) -> None:
    assert bytes_per_token(answered) == rate


def test_a_text_without_ascii_is_longer_than_its_characters() -> None:
    assert tokens_of("abcd" * 10, 4.0) == 10 and tokens_of("日本語" * 4, 4.0) == 9


# Facts.

PYPROJECT = """
[project]
name = "durations"
requires-python = ">=3.11"
dependencies = ["FastAPI>=0.1", "pydantic"]
[build-system]
build-backend = "hatchling.build"
[tool.ruff]
line-length = 100
[tool.mypy]
strict = true
"""
PACKAGE = """{"name": "shop", "engines": {"node": ">=20"}, "packageManager": "pnpm@9.1.0+sha512.abc",
"scripts": {"test": "vitest run", "build": "vite build", "other": "x"}, "devDependencies": {"react": "1"}}"""


def test_what_manifests_state_is_told() -> None:
    manifests = {"pyproject.toml": PYPROJECT, ".editorconfig": "[*]\nindent_style = space\nindent_size = 4\n[*.md]\n"}
    assert kinds_in(manifests) == ["Python package durations", "uses fastapi, pydantic"]
    assert dict(conventions_in(manifests, {"uv.lock"})) == {
        "Python": ">=3.11",
        "package manager": "uv",
        "lint": "ruff check",
        "formatter": "ruff format",
        "line length": "100",
        "types": "mypy --strict",
        "build": "hatchling.build",
        "indentation": "4 space",
    }
    node = {"package.json": PACKAGE, ".prettierrc": '{"printWidth": 90}', "tsconfig.json": '{"strict": true}'}
    assert kinds_in(node) == ["Node package shop", "uses react"]
    assert dict(conventions_in(node, {"eslint.config.mjs"})) == {
        "Node": ">=20",
        "package manager": "pnpm@9.1.0",
        "scripts": "test (vitest run), build (vite build)",
        "lint": "eslint",
        "formatter": "prettier",
        "line length": "90",
        "types": "tsc (strict)",
    }
    assert kinds_in({"go.mod": "module example.org/a\ngo 1.22\n", "Cargo.toml": "[workspace]\n"}) == [
        "Rust workspace",
        "Go module example.org/a",
    ]


@given(st.text(max_size=300), st.sampled_from(["pyproject.toml", "package.json", ".flake8", "Makefile", "mypy.ini"]))
def test_manifests_that_cannot_be_read_state_nothing_that_is_wrong(text: str, name: str) -> None:
    lines = fact_lines(ProjectFacts(paths=(name,), projects=(Project(folder="", manifests={name: text}),)))
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "\n" * 200_000,
        "[*]\n" + " \n" * 100_000,
        "a" * 200_000,
        '{"name": ' * 5_000,
        "project = 3",
        '{"scripts": [1], "engines": 2}',
    ],
)
def test_hostile_manifests_are_no_mishap(text: str) -> None:
    manifests = dict.fromkeys(MANIFESTS, text)
    assert keys_in(text) == () or "=" in text
    assert all("[[[" not in line for line in kinds_in(manifests))
    assert conventions_in(manifests, ()) is not None


def test_languages_are_counted_and_those_without_a_grammar_are_said() -> None:
    lines = fact_lines(ProjectFacts(paths=("a.py", "b.py", "c.kt"), variables=("HOME", "PORT"), suites=(". (pytest)",)))
    assert lines == [
        "tests: . (pytest)",
        "languages: Python (2 files), Kotlin (1 files)",
        "no grammar here, so only file names: Kotlin",
        "environment variables that the code reads: HOME, PORT",
    ]


def test_the_history_is_a_fact_in_one_line() -> None:
    often = History(commits=214, looked_at=100, changed=(("a.py", 12), ("b/c.py", 9)))
    assert history_lines(often) == ["git: 214 commits; the newest 100 changed most often: a.py (12), b/c.py (9)"]
    assert history_lines(History(commits=1, looked_at=1)) == []
    assert history_lines(None) == []
