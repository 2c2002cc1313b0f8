"""The tree that a verdict is taken on, made by real git."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from milepost.workspace.bench_tree import make_bench_tree
from tests.integration.repositories import Place, new_place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = new_place(tmp_path)
    found.write("src/app.py", "old\n")
    found.write("tests/test_app.py", "assert old\n")
    found.write("tests/data/one.json", "1\n")
    found.write("check", "#!/bin/sh\n").chmod(0o755)
    found.commit()
    return found


def listing(place: Place, tree: str) -> dict[str, str]:
    """Path → mode and content, or what a link or a submodule points at."""
    rows = place.git("ls-tree", "-r", "-z", tree).split("\0")
    found: dict[str, str] = {}
    for row in filter(None, rows):
        facts, _, name = row.partition("\t")
        mode, kind, made = facts.split()
        found[name] = f"{mode} {place.git('cat-file', 'blob', made) if kind == 'blob' else made}"
    return found


def bench(
    place: Place, base: str, *, restored: tuple[str, ...] = (), left_out: tuple[str, ...] = (), **merged: bytes
) -> dict[str, str]:
    contents = {path.replace("__", "."): content for path, content in merged.items()}
    made = make_bench_tree(place.engine_git(), base, place.head, restored, left_out, contents)
    return listing(place, made)


def test_a_change_that_touches_nothing_that_judges_is_its_own_bench_tree(place: Place) -> None:
    base = place.head
    place.write("src/app.py", "new\n")
    candidate = place.commit()
    made = make_bench_tree(place.engine_git(), base, candidate, (), (), {})
    assert made == place.git("rev-parse", f"{candidate}^{{tree}}")


def test_what_judges_is_as_it_was_and_the_work_is_as_it_is(place: Place) -> None:
    base = place.head
    place.write("src/app.py", "new\n")
    place.write("tests/test_app.py", "assert True\n")
    place.write("GNUmakefile", "test:\n\ttrue\n")
    (place.top / "tests/data/one.json").unlink()
    (place.top / "check").chmod(0o644)
    place.commit()
    touched = ("tests/test_app.py", "tests/data/one.json", "check")
    found = bench(place, base, restored=touched, left_out=("GNUmakefile",))
    assert found == listing(place, base) | {"src/app.py": "100644 new"}


def test_a_path_that_the_base_does_not_have_is_gone_under_either_name(place: Place) -> None:
    base = place.head
    place.write("tests/new.py", "x\n")
    place.commit()
    assert bench(place, base, restored=("tests/new.py",)) == listing(place, base)


def test_a_folder_of_tests_that_became_a_link_is_a_folder_again(place: Place) -> None:
    base = place.head
    place.git("mv", "tests", "elsewhere")
    (place.top / "tests").symlink_to("elsewhere")
    place.commit()
    gone = ("tests/test_app.py", "tests/data/one.json")
    assert bench(place, base, restored=gone) == listing(place, base) | {
        "elsewhere/test_app.py": "100644 assert old",
        "elsewhere/data/one.json": "100644 1",
    }


def test_a_check_that_became_a_folder_is_a_file_again(place: Place) -> None:
    base = place.head
    (place.top / "check").unlink()
    place.write("check/inner.py", "x\n")
    place.commit()
    assert bench(place, base, restored=("check",)) == listing(place, base)


def test_a_manifest_gets_its_own_content_and_keeps_the_mode_of_the_base(place: Place) -> None:
    place.write("pyproject.toml", "[tool]\n")
    base = place.commit()
    (place.top / "pyproject.toml").unlink()
    (place.top / "pyproject.toml").symlink_to("/etc/passwd")
    place.commit()
    assert bench(place, base, pyproject__toml=b"[project]\n")["pyproject.toml"] == "100644 [project]"


def test_a_new_manifest_is_there_with_its_own_content(place: Place) -> None:
    base = place.head
    place.write("package.json", '{"scripts": {}}')
    place.commit()
    assert bench(place, base, package__json=b"{}")["package.json"] == "100644 {}"


@pytest.mark.parametrize(
    "name",
    [
        *(b"tests/a b\tc\nd.py", b'tests/"quoted".py', b"tests/\xff\xfe.py", "tests/größe.py".encode()),
        *(b"tests/git~1.py", b"tests/-z", b"tests/:(glob)*", b"tests/back\\slash.py"),
    ],
)
def test_any_name_is_restored_and_left_out(place: Place, name: bytes) -> None:
    place.write(os.fsdecode(name), "base\n")
    base = place.commit()
    place.write(os.fsdecode(name), "changed\n")
    place.write(os.fsdecode(name + b".new"), "added\n")
    place.write("src/app.py", "new\n")
    candidate = place.commit()
    change = place.mileposts().change(base, candidate)
    touched = [path for path in change.paths if path.startswith("tests/")]
    new = [path for path in touched if path.endswith(".new")]
    old = [path for path in touched if path not in new]
    made = make_bench_tree(place.engine_git(), base, candidate, old, new, {})
    assert listing(place, made) == listing(place, base) | {"src/app.py": "100644 new"}


def test_submodules_and_links_stay_as_they_are_and_come_back_as_they_were(place: Place) -> None:
    place.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor/lib")
    (place.top / "tests/link").symlink_to("data/one.json")
    place.git("add", "tests/link")
    place.git("commit", "--quiet", "--message", "Base")
    base = place.head
    place.git("update-index", "--cacheinfo", f"160000,{'2' * 40},vendor/lib")
    (place.top / "tests/link").unlink()
    (place.top / "tests/link").symlink_to("/etc/passwd")
    place.git("add", "tests/link")
    place.git("commit", "--quiet", "--message", "Candidate")
    kept = bench(place, base, restored=("tests/link",))
    assert kept["vendor/lib"].endswith("2" * 40)
    assert kept["tests/link"] == "120000 data/one.json"
    assert bench(place, base, restored=("tests/link", "vendor/lib")) == listing(place, base)


def test_many_at_a_time_make_the_same_tree(place: Place) -> None:
    base = place.head
    place.write("tests/test_app.py", "assert True\n")
    candidate = place.commit()
    git = place.engine_git()
    with ThreadPoolExecutor(8) as pool:
        calls = [
            pool.submit(make_bench_tree, git, base, candidate, ("tests/test_app.py",), (), {"a.toml": b"x"})
            for _ in range(16)
        ]
    assert len({call.result() for call in calls}) == 1
