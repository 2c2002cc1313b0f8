"""Which entry points a project has, which is started, and which is meant by a name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from milepost.core.errors import Misuse
from milepost.sandbox.scripts import best_entry, entry_named, entry_points, names_of, project_name
from milepost.sandbox.scripts.entry_points import PythonEntry, python_entry

GUARD = "if __name__ == '__main__':\n    pass\n"
PACKAGE = {"name": "@me/shop", "main": "index.js", "bin": "cli.js", "scripts": {"start": "x", "test": "y"}}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


PROJECTS: list[tuple[dict[str, str], list[tuple[str, str, str]], str | None]] = [
    ({}, [], None),
    ({"plain.py": "x = 1\n"}, [], None),
    ({"broken.py": "def main(:\n"}, [], None),
    ({"main.py": "x = 1\n"}, [], None),
    ({"main.py": "print(1)\n"}, [("conventional file", "main", "main.py")], "main"),
    ({"main.py": "def main(:\n"}, [("conventional file", "main", "main.py")], "main"),
    ({"setup.py": GUARD, "test_a.py": GUARD, "a_test.py": GUARD, "conftest.py": GUARD}, [], None),
    ({"a.py": GUARD, "b.py": GUARD}, [("main guard", "a", "a.py"), ("main guard", "b", "b.py")], None),
    ({"a.py": GUARD, "app.py": GUARD}, [("main guard", "a", "a.py"), ("main guard", "app", "app.py")], "app"),
    (
        {"pyproject.toml": '[project]\nname="b"\n[project.scripts]\na="x:f"\nb="x:g"\nodd=3\n', "main.py": GUARD},
        [
            ("console script", "a", "pyproject.toml"),
            ("console script", "b", "pyproject.toml"),
            ("main guard", "main", "main.py"),
        ],
        "b",
    ),
    (
        {"pyproject.toml": '[project.scripts]\nshop="shop:f"\n', "shop/__main__.py": ""},
        [("console script", "shop", "pyproject.toml"), ("module", "shop", "shop/__main__.py")],
        "shop",
    ),
    ({"a/__main__.py": "", "b-c/__main__.py": ""}, [("module", "a", "a/__main__.py")], "a"),
    (
        {"package.json": json.dumps(PACKAGE), "deno.json": '{"tasks": {"dev": "deno run a.ts"}}'},
        [
            ("package script", "start", "package.json"),
            ("bin", "shop", "package.json"),
            ("main file", "shop", "package.json"),
            ("task", "dev", "deno.json"),
        ],
        "start",
    ),
    ({"package.json": '{"main": "index.js"}', "index.js": ""}, [("main file", "PROJECT", "package.json")], "PROJECT"),
    ({"package.json": '{"bin": "../x.js", "main": "/etc/x.js"}'}, [], None),
    (
        {"package.json": '{"scripts": {"start": "x"}}', "pyproject.toml": '[project.scripts]\nshop="shop:f"\n'},
        [("console script", "shop", "pyproject.toml"), ("package script", "start", "package.json")],
        "start",
    ),
    (
        {"main.ts": "", "index.mjs": ""},
        [("conventional file", "index", "index.mjs"), ("conventional file", "main", "main.ts")],
        "main",
    ),
]


@pytest.mark.parametrize(("files", "found", "best"), PROJECTS, ids=[", ".join(row[0]) or "empty" for row in PROJECTS])
def test_entry_points_are_found_the_best_first(
    tmp_path: Path, files: dict[str, str], found: list[tuple[str, str, str]], best: str | None
) -> None:
    folder = tmp_path / "PROJECT"
    folder.mkdir()
    entries = entry_points(written(folder, files))
    assert [(entry.way, entry.name, entry.source) for entry in entries] == found
    chosen = best_entry(entries, project_name(folder)) if entries else None
    assert (chosen and chosen.name) == best


@pytest.mark.parametrize(
    ("source", "how"),
    [
        (GUARD, "main guard"),
        ("if '__main__' == __name__: pass", "main guard"),
        ("def main(): pass\nmain()", "main call"),
        ("import sys\ndef main(): pass\nsys.exit(main())", "main call"),
        ("def main(x=1, *a, k=2): pass", "main function"),
        ("async def main(): pass", "async main function"),
        ("def main(argument): pass", None),
        ("def main(*, key): pass", None),
        ("if __name__ != '__main__': pass", None),
        ("class main: pass", None),
        ("def f(:", None),
        ("[" * 100_000, None),
        ("\0", None),
    ],
)
def test_how_a_python_file_is_started(source: str, how: PythonEntry | None) -> None:
    assert python_entry(source) == how


@pytest.mark.parametrize("text", ["[]", "{", "[" * 100_000, '{"bin": 3, "scripts": [], "main": {}}', "\0"])
def test_malformed_files_have_no_entry_points(tmp_path: Path, text: str) -> None:
    names = ("package.json", "deno.json", "pyproject.toml", "setup.cfg", "a.py")
    assert entry_points(written(tmp_path, dict.fromkeys(names, text))) == ()


def test_two_entry_points_of_one_name_are_told_apart_by_their_source(tmp_path: Path) -> None:
    written(tmp_path, {"pyproject.toml": '[project.scripts]\nshop="shop:f"\n', "shop/__main__.py": "", "a.py": GUARD})
    entries = entry_points(tmp_path)
    assert names_of(entries) == ("pyproject.toml:shop", "shop/__main__.py:shop", "a")
    assert [entry_named(tmp_path, entries, name) for name in names_of(entries)] == list(entries)
    with pytest.raises(Misuse, match="2 entry points are called 'shop'") as caught:
        entry_named(tmp_path, entries, "shop")
    assert "--entry pyproject.toml:shop or --entry shop/__main__.py:shop" in caught.value.advice


def test_links_that_lead_outside_are_no_entry_points(tmp_path: Path) -> None:
    outside = written(
        tmp_path / "outside", {"main.py": GUARD, "package/__main__.py": "", "package.json": '{"main": "x"}'}
    )
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("main.py", "package", "package.json"):
        (folder / name).symlink_to(outside / name)
    assert entry_points(folder) == ()
    with pytest.raises(Misuse, match=r"'main\.py' points outside of the project"):
        entry_named(folder, (), "main.py")


def test_a_link_within_the_project_is_an_entry_point(tmp_path: Path) -> None:
    written(tmp_path, {"lib/start.py": GUARD})
    (tmp_path / "go.py").symlink_to("lib/start.py")
    assert [entry.name for entry in entry_points(tmp_path)] == ["go"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nobody", "no entry point 'nobody'"),
        ("", "no entry point ''"),
        ("../outside.py", "'../outside.py' points outside"),
        ("notes.txt", "'notes.txt' is not a script that can be started"),
        ("a\0b", "no entry point"),
    ],
)
def test_a_name_that_is_no_entry_point_is_refused(tmp_path: Path, name: str, says: str) -> None:
    written(tmp_path, {"outside.py": "", "project/notes.txt": ""})
    with pytest.raises(Misuse, match=says):
        entry_named(tmp_path / "project", (), name)
