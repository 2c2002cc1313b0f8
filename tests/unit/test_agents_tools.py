"""The tools of a model."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.agents.confined import ConfinedFolder, Refused
from milepost.agents.identity import GIT_IDENTITY
from milepost.agents.model import ToolCall, ToolResult
from milepost.agents.tools import LONGEST_RESULT, WorkspaceTools, narration, replaced
from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult, Line, Termination, enforced_by_all
from milepost.core.errors import StateUnwritable


class RecordingTerminal:
    """Keeps the commands it is given; each prints what was set."""

    def __init__(self, *, stdout: str = "", exit_code: int = 0) -> None:
        self.commands: list[Command] = []
        self.stdout = stdout
        self.exit_code: int | None = exit_code
        self.termination: Termination = "exited"
        self.enforced: tuple[str, ...] = ("network", "files")

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        self.commands.append(command)
        return CommandResult(
            termination=self.termination,
            exit_code=self.exit_code,
            stdout=self.stdout,
            stderr="",
            duration_ms=1,
            enforced=self.enforced,
        )


class Hands:
    """The tools on a workspace beside which lies a file that must not be touched."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "workspace"
        self.folder.mkdir()
        (self.folder / ".git").mkdir()
        (self.folder / ".git" / "config").write_text("[core]")
        self.outside = tmp_path / "outside"
        self.outside.mkdir()
        (self.outside / "secret.txt").write_text("secret")
        self.terminal = RecordingTerminal()
        workspace = Workspace(folder=self.folder, scratch=tmp_path / "scratch", base="0" * 40)
        self.tools = WorkspaceTools(workspace, self.terminal, idle_timeout_s=9)

    def call(self, name: str, **arguments: Any) -> ToolResult:
        return self.tools.run(ToolCall(id="1", name=name, arguments=arguments), timeout_s=5)

    def text(self, name: str, **arguments: Any) -> str:
        result = self.call(name, **arguments)
        assert not result.failed, result.text
        return result.text

    def error(self, name: str, **arguments: Any) -> str:
        result = self.call(name, **arguments)
        assert result.failed, result.text
        return result.text


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    return Hands(tmp_path)


def test_a_file_is_written_read_edited_listed_and_deleted(hands: Hands) -> None:
    hands.text("write_file", path="src/app.py", content="one = 1\ntwo = 2\n")
    assert hands.text("read_file", path="src/app.py") == "     1\tone = 1\n     2\ttwo = 2"

    hands.text("edit_file", path="src/app.py", old="two = 2", new="two = 1 + 1")
    assert (hands.folder / "src" / "app.py").read_text() == "one = 1\ntwo = 1 + 1\n"

    assert hands.text("ls") == "src/app.py"
    hands.text("delete", path="src/app.py")
    assert hands.text("ls") == "no files"


def test_a_long_file_is_read_in_parts_that_say_where_to_go_on(hands: Hands) -> None:
    (hands.folder / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 2501)))

    (hands.folder / "feed.txt").write_text("one\fone\u2028one\n\nthree")

    assert hands.text("read_file", path="feed.txt") == "     1\tone\fone\u2028one\n     2\t\n     3\tthree"
    part = hands.text("read_file", path="long.txt", offset=3, limit=2)
    assert part.splitlines() == ["     3\tline 3", "     4\tline 4", "… 2496 more lines: go on with offset 5"]
    assert hands.text("read_file", path="long.txt").endswith("… 1500 more lines: go on with offset 1001")
    assert "only 2500 lines" in hands.error("read_file", path="long.txt", offset=2501)


def test_no_result_is_longer_than_the_cap(hands: Hands) -> None:
    (hands.folder / "wide.txt").write_text("\n".join("x" * 5_000 for _ in range(100)))
    hands.terminal.stdout = "first" + "y" * 1_000_000 + "last"

    wide = hands.text("read_file", path="wide.txt")
    assert len(wide) <= LONGEST_RESULT and wide.endswith("go on with offset 15")
    printed = hands.text("execute", argv=["flood"])
    assert len(printed) <= LONGEST_RESULT and "first" in printed and printed.endswith("last")


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../outside/secret.txt",
        "src/../../outside/secret.txt",
        "link/secret.txt",
        "link-to-file",
        "link-within/../../outside/secret.txt",
        ".git/config",
        "sub/.GIT/config",
        "link-to-git/config",
        "loop",
        "pipe",
        ".",
        "a\0b",
        "\ud800",
        "x" * 300,
    ],
)
def test_a_path_that_leads_out_is_an_error_to_the_model_and_nothing_more(hands: Hands, path: str) -> None:
    (hands.folder / "link").symlink_to(hands.outside)
    (hands.folder / "link-to-file").symlink_to(hands.outside / "secret.txt")
    (hands.folder / "link-within").symlink_to(".")
    (hands.folder / "link-to-git").symlink_to(".git")
    (hands.folder / "loop").symlink_to("loop")
    os.mkfifo(hands.folder / "pipe")

    assert "secret" not in hands.error("read_file", path=path).replace("secret.txt", "")
    hands.error("write_file", path=path, content="broken")
    hands.error("edit_file", path=path, old="e", new="broken", replace_all=True)
    assert (hands.outside / "secret.txt").read_text() == "secret"
    assert (hands.folder / ".git" / "config").read_text() == "[core]"


def test_a_folder_swapped_for_a_link_between_looking_and_opening_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    docs = tmp_path / "workspace" / "docs"
    docs.mkdir(parents=True)

    class Swapped(ConfinedFolder):
        def _parts(self, path: str, *, follow_last: bool = True) -> tuple[str, ...]:
            parts = super()._parts(path, follow_last=follow_last)
            docs.rmdir()
            docs.symlink_to(tmp_path / "outside")
            return parts

    with pytest.raises(Refused):
        Swapped(tmp_path / "workspace").write("docs/secret.txt", b"broken")

    assert (tmp_path / "outside" / "secret.txt").read_text() == "secret"


def test_deleting_a_link_leaves_what_it_leads_to(hands: Hands) -> None:
    (hands.folder / "link").symlink_to(hands.outside)
    (hands.folder / "link-to-file").symlink_to(hands.outside / "secret.txt")

    hands.error("delete", path="link/secret.txt")
    hands.error("delete", path=".git/config")
    hands.text("delete", path="link-to-file")

    assert (hands.outside / "secret.txt").exists()
    assert not (hands.folder / "link-to-file").is_symlink()


def test_listing_neither_follows_links_nor_enters_git_or_what_tools_fill(hands: Hands) -> None:
    (hands.folder / "link").symlink_to(hands.outside)
    (hands.folder / "node_modules" / "deep").mkdir(parents=True)
    (hands.folder / "node_modules" / "deep" / "x.js").touch()
    (hands.folder / "b.py").touch()
    (hands.folder / "a").mkdir()
    (hands.folder / "a" / "c.py").touch()

    assert hands.text("ls") == "b.py\nnode_modules/\na/c.py"
    assert hands.text("ls", path="a") == "a/c.py"
    assert "out of the workspace" in hands.error("ls", path="link")
    assert "Not a directory" in hands.error("ls", path="b.py")


def test_a_link_that_stays_within_the_workspace_is_followed(hands: Hands) -> None:
    (hands.folder / "v2").mkdir()
    (hands.folder / "latest").symlink_to("v2")

    hands.text("write_file", path="latest/notes.md", content="new")

    assert (hands.folder / "v2" / "notes.md").read_text() == "new"


def test_a_file_with_a_second_name_is_not_written(hands: Hands) -> None:
    (hands.folder / "twin.txt").hardlink_to(hands.outside / "secret.txt")

    assert "hard link" in hands.error("write_file", path="twin.txt", content="broken")
    assert (hands.outside / "secret.txt").read_text() == "secret"


def test_writing_keeps_the_mode_of_the_file(hands: Hands) -> None:
    script = hands.folder / "run.sh"
    script.write_text("#!/bin/sh\nfalse\n")
    script.chmod(0o755)

    hands.text("edit_file", path="run.sh", old="false", new="true")

    assert script.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("fly", {}, "there is no tool 'fly'; there are read_file"),
        ("read_file", {}, "path is missing"),
        ("read_file", {"path": 7}, "path must be a text, not 7"),
        ("read_file", {"path": "a", "offset": True}, "offset must be a whole number"),
        ("read_file", {"path": "a", "offset": 0}, "offset must be at least 1"),
        ("read_file", {"path": "a", "mode": "r"}, "mode is not known"),
        ("read_file", {"path": "absent"}, "No such file"),
        ("read_file", {"path": "binary"}, "not a text file"),
        ("write_file", {"path": "a", "content": "\ud800"}, "cannot be written as UTF-8"),
        ("edit_file", {"path": "a", "old": "", "new": "x"}, "old must not be empty"),
        ("delete", {"path": "folder"}, "folder: "),
        ("execute", {"argv": "ls -l"}, "argv must be a list of texts"),
        ("execute", {"argv": []}, "argv must not be empty"),
        ("execute", {"argv": ["a\0b"]}, "NUL"),
    ],
)
def test_a_wrong_call_is_told_to_the_model(hands: Hands, name: str, arguments: dict[str, Any], says: str) -> None:
    (hands.folder / "binary").write_bytes(b"\xff\xfe\x00")
    (hands.folder / "folder").mkdir()

    assert says in hands.error(name, **arguments)
    assert hands.terminal.commands == []


def test_a_command_runs_in_the_workspace_with_no_more_time_than_is_left(hands: Hands) -> None:
    hands.terminal.stdout = "2 failed\n"
    hands.terminal.exit_code = 1

    assert hands.text("execute", argv=["pytest", "-q"]) == "exit 1\nstdout:\n2 failed"

    [command] = hands.terminal.commands
    assert command.argv == ("pytest", "-q")
    assert command.cwd == hands.folder
    assert (command.timeout_s, command.idle_timeout_s) == (5, 9)
    assert command.env == GIT_IDENTITY


def test_what_was_enforced_is_what_held_for_every_command(hands: Hands) -> None:
    assert hands.call("write_file", path="a", content="").enforced is None
    first = hands.call("execute", argv=["a"]).enforced
    hands.terminal.enforced = ("files", "memory")
    second = hands.call("execute", argv=["b"]).enforced

    assert first is not None and second is not None
    assert enforced_by_all([first, second]) == ("files",) and not enforced_by_all([])


def test_a_disk_that_is_full_is_not_told_to_the_model_but_stops_the_run(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ftruncate(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "ftruncate", ftruncate)

    with pytest.raises(StateUnwritable, match=r"a\.txt: No space left"):
        hands.call("write_file", path="a.txt", content="x")


def test_an_edit_needs_exactly_one_match_unless_all_are_meant(hands: Hands) -> None:
    (hands.folder / "a.txt").write_text("x\nx\naaa\n")

    assert "not in the file" in hands.error("edit_file", path="a.txt", old="y", new="z")
    assert "2 times" in hands.error("edit_file", path="a.txt", old="x", new="z")
    assert "2 times" in hands.error("edit_file", path="a.txt", old="aa", new="z")
    assert (hands.folder / "a.txt").read_text() == "x\nx\naaa\n"

    hands.text("edit_file", path="a.txt", old="x", new=r"\1", replace_all=True)
    assert (hands.folder / "a.txt").read_text() == "\\1\n\\1\naaa\n"


def test_an_edit_keeps_the_line_ends_and_the_mark_of_a_windows_file(hands: Hands) -> None:
    (hands.folder / "w.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n")

    assert hands.text("read_file", path="w.txt") == "     1\tone\n     2\ttwo\n     3\tthree"
    hands.text("edit_file", path="w.txt", old="one\ntwo\n", new="1\n2\n")
    hands.text("edit_file", path="w.txt", old="three", new="3\n4")

    assert (hands.folder / "w.txt").read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n3\r\n4\r\n"


@given(before=st.text("ab\n.\\"), old=st.text("ab\n.\\", min_size=1), after=st.text("ab\n.\\"), new=st.text("xy\n\\"))
def test_replacing_a_text_marked_by_position_changes_nothing_around_it(
    before: str, old: str, after: str, new: str
) -> None:
    text = f"{before}<{old}>{after}"

    assert replaced(text, f"<{old}>", new, everywhere=False) == f"{before}{new}{after}"
    windows = replaced(text.replace("\n", "\r\n"), f"<{old}>", new, everywhere=False)
    if "\n" in text:
        assert windows == f"{before}{new}{after}".replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (ToolCall(id="1", name="write_file", arguments={"path": "durations.py"}), "writing durations.py"),
        (ToolCall(id="1", name="execute", arguments={"argv": ["sh", "-c", "a\nb"]}), "running sh -c 'a b'"),
        (ToolCall(id="1", name="execute", arguments={"argv": 3}), "running 3"),
        (ToolCall(id="1", name="ls"), "listing ."),
        (ToolCall(id="1", name="fly"), "calling fly"),
    ],
)
def test_a_call_is_told_to_people_in_one_line(call: ToolCall, line: str) -> None:
    assert narration(call) == line
