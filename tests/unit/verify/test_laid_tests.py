"""Tests laid into a checkout, where what runs meanwhile does with their places what it likes."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.verdict import TestCase
from milepost.verify.laid_tests import QUOTES, Material, laid, told

HIDDEN = Material(
    files={"hidden/test_h.py": b"assert 1\n", "hidden/docs/test_d.py": b"", "hidden/run.sh": b"exit\n"},
    programs=frozenset({"hidden/run.sh"}),
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace(folder=tmp_path / "tree", scratch=tmp_path / "scratch", base="0" * 40)
    made.folder.mkdir()
    made.scratch.mkdir()
    return made


def contents(folder: Path) -> dict[str, str]:
    """Every name below a folder, with the text of a file, the target of a link, or `/`."""
    found = {}
    for place, folders, files in os.walk(folder):
        for path in (Path(place, name) for name in (*folders, *files)):
            what = str(path.readlink()) if path.is_symlink() else "/" if path.is_dir() else path.read_text()
            found[path.relative_to(folder).as_posix()] = what
    return found


def _nothing(folder: Path, outside: Path) -> None:
    assert (folder / "hidden/test_h.py").read_bytes() == b"assert 1\n"
    assert os.access(folder / "hidden/run.sh", os.X_OK) and not os.access(folder / "hidden/test_h.py", os.X_OK)
    (folder / "hidden/__pycache__").mkdir()


def _link_for_the_folder(folder: Path, outside: Path) -> None:
    (folder / "hidden").rename(folder / "was")
    (folder / "hidden").symlink_to(outside)


def _link_inside(folder: Path, outside: Path) -> None:
    (folder / "hidden/docs").rename(folder / "was")
    (folder / "hidden/docs").symlink_to(outside / "docs")


def _file(folder: Path, outside: Path) -> None:
    (folder / "hidden").rename(folder / "was")
    (folder / "hidden").write_text("in the way\n")


def _dead_link(folder: Path, outside: Path) -> None:
    (folder / "hidden").rename(folder / "was")
    (folder / "hidden").symlink_to(outside / "new")


def _locked(folder: Path, outside: Path) -> None:
    (folder / "hidden/docs").chmod(0)


BEFORE: tuple[dict[str, str], ...] = (
    {},
    {"hidden/test_h.py": "of the agent\n", "hidden/own.py": "own\n"},
    {"hidden": "a file\n"},
    {"hidden/test_h.py/deep.py": "in a folder\n", "hidden/docs": "a file\n"},
)


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("act", [_nothing, _link_for_the_folder, _link_inside, _file, _dead_link, _locked])
def test_what_stood_in_their_place_is_back_and_nothing_outside_was_touched(
    workspace: Workspace, before: dict[str, str], act: Callable[[Path, Path], None]
) -> None:
    outside = workspace.folder.parent / "outside"
    (outside / "docs").mkdir(parents=True)
    (outside / "test_h.py").write_text("mine\n")
    (outside / "docs/test_d.py").write_text("mine\n")
    mine = contents(outside)
    for name, text in before.items():
        (workspace.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace.folder / name).write_text(text)
    with laid(HIDDEN, workspace):
        act(workspace.folder, outside)
    assert contents(outside) == mine
    after = contents(workspace.folder)
    assert before.items() <= after.items() | {("hidden/own.py", after.get("was/own.py"))}
    assert sorted(one.name for one in workspace.folder.parent.iterdir()) == ["outside", "scratch", "tree"]
    if not before:
        assert "hidden" not in after


def test_a_link_that_the_checkout_has_in_their_place_is_not_written_through(workspace: Workspace) -> None:
    outside = workspace.folder.parent / "outside"
    outside.mkdir()
    (workspace.folder / "hidden").symlink_to(outside)
    with laid(HIDDEN, workspace):
        assert (workspace.folder / "hidden/test_h.py").is_file() and not any(outside.iterdir())
    assert contents(workspace.folder) == {"hidden": str(outside)}


def test_what_is_kept_for_later_is_out_of_the_reach_of_what_runs(workspace: Workspace) -> None:
    (workspace.folder / "hidden").write_text("a file\n")
    with laid(HIDDEN, workspace):
        assert not any(workspace.scratch.iterdir())


SOURCE = b"from area import square\n\n\ndef test_square():\n    assert square(-12) == 144\n"
CODES: dict[str, Callable[[bytes], str]] = {
    "as it is": bytes.decode,
    "in another spelling": lambda source: "-".join(source.decode().upper()),
    "backwards": lambda source: source.decode()[::-1],
    "base64": lambda source: base64.b64encode(source).decode(),
    "base64 in pieces": lambda source: " ".join(base64.b64encode(source).decode()),
    "base64 backwards": lambda source: base64.b64encode(source).decode()[::-1],
    "hex": bytes.hex,
    "hex of base64": lambda source: base64.b64encode(source).hex(),
}


def _told(message: str) -> str:
    case = TestCase(id="hidden/test_h.py::test_square", outcome="failed", message=message)
    return told(case, Material(files={"hidden/test_h.py": SOURCE})).message


@pytest.mark.parametrize("code", CODES)
def test_no_message_carries_the_tests_to_the_agent_in_a_usual_code(code: str) -> None:
    assert _told(f"got {CODES[code](SOURCE.replace(bytes([10]), b' '))}") == QUOTES


@pytest.mark.parametrize(
    "message",
    [
        "assert 24 == 144",
        "ModuleNotFoundError: No module named 'area'",
        f"assert {'a' * 64!r} == {'0123456789abcdef' * 4!r}",
    ],
)
def test_a_message_that_says_what_was_wrong_is_told(message: str) -> None:
    assert _told(message) == message
