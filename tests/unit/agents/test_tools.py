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

from milepost.agents.identity import GIT_IDENTITY
from milepost.agents.models.model import ToolCall
from milepost.agents.tool_agent.tools.calls import ToolCalls, Use
from milepost.agents.tool_agent.tools.long_results import LONGEST_RESULT, LongResults
from milepost.agents.tool_agent.tools.search_script import matches
from milepost.agents.tool_agent.tools.specs import narration
from milepost.agents.tool_agent.tools.text import replaced
from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult, Line, Termination, enforced_by_all
from milepost.core.errors import StateUnwritable
from milepost.sandbox.confined import ConfinedFolder, PathRefused


class RecordingTerminal:
    """Keeps the commands it is given; each prints what was set."""

    def __init__(self, *, stdout: str = "", exit_code: int = 0) -> None:
        self.commands: list[Command] = []
        self.stdout = stdout
        self.exit_code: int | None = exit_code
        self.termination: Termination = "exited"
        self.enforced: tuple[str, ...] = ("network", "files")
        self.stderr = ""

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        self.commands.append(command)
        return CommandResult(
            termination=self.termination,
            exit_code=self.exit_code,
            stdout=self.stdout,
            stderr=self.stderr,
            duration_ms=1,
            enforced=self.enforced,
        )


class Bench:
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
        self.scratch = tmp_path / "scratch"
        workspace = Workspace(folder=self.folder, scratch=self.scratch, base="0" * 40)
        self.results = LongResults(workspace)
        self.hands = ToolCalls(workspace, self.terminal, self.results, idle_timeout_s=9)

    def call(self, name: str, **arguments: Any) -> Use:
        call = ToolCall(id="1", name=name, arguments=arguments)
        use = self.hands.use(call, timeout_s=5)
        self.hands.learn(call, failed=use.failed, seen=use.seen)
        return use

    def text(self, name: str, **arguments: Any) -> str:
        result = self.call(name, **arguments)
        assert not result.failed, result.text
        return result.text

    def error(self, name: str, **arguments: Any) -> str:
        result = self.call(name, **arguments)
        assert result.failed, result.text
        return result.text


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_file_is_written_read_edited_listed_and_deleted(bench: Bench) -> None:
    bench.text("write_file", path="src/app.py", content="one = 1\ntwo = 2\n")
    assert bench.text("read_file", path="src/app.py") == "     1\tone = 1\n     2\ttwo = 2"

    bench.text("edit_file", path="src/app.py", old="two = 2", new="two = 1 + 1")
    assert (bench.folder / "src" / "app.py").read_text() == "one = 1\ntwo = 1 + 1\n"

    assert bench.text("ls") == "src/app.py"
    bench.text("delete", path="src/app.py")
    assert bench.text("ls") == "no files"


def test_a_long_file_is_read_in_parts_that_say_where_to_go_on(bench: Bench) -> None:
    (bench.folder / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 2501)))

    (bench.folder / "feed.txt").write_text("one\fone\u2028one\n\nthree")

    assert bench.text("read_file", path="feed.txt") == "     1\tone\fone\u2028one\n     2\t\n     3\tthree"
    part = bench.text("read_file", path="long.txt", offset=3, limit=2)
    assert part.splitlines() == ["     3\tline 3", "     4\tline 4", "… 2496 more lines: go on with offset 5"]
    assert bench.text("read_file", path="long.txt").endswith("… 1500 more lines: go on with offset 1001")
    assert "only 2500 lines" in bench.error("read_file", path="long.txt", offset=2501)


def test_a_page_of_a_file_is_never_longer_than_can_be_told(bench: Bench) -> None:
    (bench.folder / "wide.txt").write_text("\n".join("x" * 5_000 for _ in range(100)))

    wide = bench.text("read_file", path="wide.txt")

    assert len(wide) <= LONGEST_RESULT and wide.endswith("go on with offset 15")


def test_a_long_result_is_told_in_part_and_read_whole_by_its_name(bench: Bench) -> None:
    long = "first\n" + "y" * 70_000 + "\nlast"

    assert bench.results.told("result:1", "short") == "short"
    told = bench.results.told("result:2", long)
    assert len(told) < 7_000 and told.startswith("first") and "read_file reads it by that name" in told

    read = "".join(
        line.split("\t", 1)[1]
        for offset in (1, 13, 25, 37)
        for line in bench.text("read_file", path="result:2", offset=offset, limit=12).splitlines()
        if "\t" in line
    )
    assert read == long.replace("\n", "")
    assert "there is no result:1" in bench.error("read_file", path="result:1")
    assert "result:../x" in bench.error("read_file", path="result:../x")


def test_a_long_result_does_not_leave_through_a_link_that_a_command_laid(bench: Bench) -> None:
    (bench.scratch / "results").symlink_to(bench.outside)

    told = bench.results.told("result:7", "z" * 50_000)

    assert told.endswith("could not be kept.") and sorted(bench.outside.iterdir()) == [bench.outside / "secret.txt"]


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
def test_a_path_that_leads_out_is_an_error_to_the_model_and_nothing_more(bench: Bench, path: str) -> None:
    (bench.folder / "link").symlink_to(bench.outside)
    (bench.folder / "link-to-file").symlink_to(bench.outside / "secret.txt")
    (bench.folder / "link-within").symlink_to(".")
    (bench.folder / "link-to-git").symlink_to(".git")
    (bench.folder / "loop").symlink_to("loop")
    os.mkfifo(bench.folder / "pipe")

    assert "secret" not in bench.error("read_file", path=path).replace("secret.txt", "")
    bench.error("write_file", path=path, content="broken")
    bench.error("edit_file", path=path, old="e", new="broken", replace_all=True)
    if path != ".":
        bench.error("grep", pattern="e", path=path)
        bench.error("glob", pattern="*", path=path)
    assert (bench.outside / "secret.txt").read_text() == "secret"
    assert (bench.folder / ".git" / "config").read_text() == "[core]"


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

    with pytest.raises(PathRefused):
        Swapped(tmp_path / "workspace").write("docs/secret.txt", b"broken")

    assert (tmp_path / "outside" / "secret.txt").read_text() == "secret"


def test_deleting_a_link_leaves_what_it_leads_to(bench: Bench) -> None:
    (bench.folder / "link").symlink_to(bench.outside)
    (bench.folder / "link-to-file").symlink_to(bench.outside / "secret.txt")

    bench.error("delete", path="link/secret.txt")
    bench.error("delete", path=".git/config")
    bench.text("delete", path="link-to-file")

    assert (bench.outside / "secret.txt").exists()
    assert not (bench.folder / "link-to-file").is_symlink()


def test_listing_neither_follows_links_nor_enters_git_or_what_tools_fill(bench: Bench) -> None:
    (bench.folder / "link").symlink_to(bench.outside)
    (bench.folder / "node_modules" / "deep").mkdir(parents=True)
    (bench.folder / "node_modules" / "deep" / "x.js").touch()
    (bench.folder / "b.py").touch()
    (bench.folder / "a").mkdir()
    (bench.folder / "a" / "c.py").touch()

    assert bench.text("ls") == "b.py\nnode_modules/\na/c.py"
    assert bench.text("ls", path="a") == "a/c.py"
    assert "out of the workspace" in bench.error("ls", path="link")
    assert "Not a directory" in bench.error("ls", path="b.py")


def test_a_link_that_stays_within_the_workspace_is_followed(bench: Bench) -> None:
    (bench.folder / "v2").mkdir()
    (bench.folder / "latest").symlink_to("v2")

    bench.text("write_file", path="latest/notes.md", content="new")

    assert (bench.folder / "v2" / "notes.md").read_text() == "new"


def test_a_file_with_a_second_name_is_not_written(bench: Bench) -> None:
    (bench.folder / "twin.txt").hardlink_to(bench.outside / "secret.txt")

    assert "hard link" in bench.error("write_file", path="twin.txt", content="broken")
    assert (bench.outside / "secret.txt").read_text() == "secret"


def test_writing_keeps_the_mode_of_the_file(bench: Bench) -> None:
    script = bench.folder / "run.sh"
    script.write_text("#!/bin/sh\nfalse\n")
    script.chmod(0o755)

    bench.text("read_file", path="run.sh")
    bench.text("edit_file", path="run.sh", old="false", new="true")

    assert script.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("read_file", {}, "path is missing"),
        ("read_file", {"path": 7}, "path must be a text, not 7"),
        ("read_file", {"path": "a", "offset": True}, "offset must be a whole number"),
        ("read_file", {"path": "a", "offset": 0}, "offset must be at least 1"),
        ("read_file", {"path": "a", "mode": "r"}, "mode is not known"),
        ("read_file", {"path": "absent"}, "No such file"),
        ("read_file", {"path": "binary"}, "not a text file"),
        ("write_file", {"path": "a", "content": "\ud800"}, "cannot be written as UTF-8"),
        ("edit_file", {"path": "a", "old": "", "new": "x"}, "old must not be empty"),
        ("glob", {"pattern": ""}, "pattern must not be empty"),
        ("grep", {"pattern": "a\0b"}, "NUL"),
        ("write_todos", {"todos": "x"}, "todos must be a list, not 'x'"),
        ("write_todos", {"todos": [{"content": "x"}]}, "todos[0].status is missing"),
        ("write_todos", {"todos": [{"content": "x", "status": "soon"}]}, "todos[0].status must be one of pending, "),
        ("delete", {"path": "folder"}, "folder: "),
        ("execute", {"command": ["ls"]}, "command must be a text"),
        ("execute", {"command": ""}, "command must not be empty"),
        ("execute", {"command": "a\0b"}, "NUL"),
        ("execute", {}, "command is missing"),
        ("execute", {"argv": "ls -l"}, "argv must be a list of texts"),
        ("execute", {"argv": []}, "argv must not be empty"),
        ("execute", {"argv": ["a\0b"]}, "NUL"),
    ],
)
def test_a_wrong_call_is_told_to_the_model(bench: Bench, name: str, arguments: dict[str, Any], says: str) -> None:
    (bench.folder / "binary").write_bytes(b"\xff\xfe\x00")
    (bench.folder / "folder").mkdir()

    assert says in bench.error(name, **arguments)
    assert bench.terminal.commands == []


def test_a_command_runs_in_the_workspace_with_no_more_time_than_is_left(bench: Bench) -> None:
    bench.terminal.stdout = "2 failed\n"
    bench.terminal.exit_code = 1

    assert bench.text("execute", command="pytest -q") == "exit 1\nstdout:\n2 failed"

    [command] = bench.terminal.commands
    assert command.argv == ("pytest", "-q")
    assert command.cwd == bench.folder
    assert (command.timeout_s, command.idle_timeout_s) == (5, 9)
    assert command.env == GIT_IDENTITY


def test_what_was_enforced_is_what_held_for_every_command(bench: Bench) -> None:
    assert bench.call("write_file", path="a", content="").enforced is None
    first = bench.call("execute", argv=["a"]).enforced
    bench.terminal.enforced = ("files", "memory")
    second = bench.call("execute", argv=["b"]).enforced

    assert first is not None and second is not None
    assert enforced_by_all([first, second]) == ("files",) and not enforced_by_all([])


def test_a_disk_that_is_full_is_not_told_to_the_model_but_stops_the_run(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ftruncate(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "ftruncate", ftruncate)

    with pytest.raises(StateUnwritable, match=r"a\.txt: No space left"):
        bench.call("write_file", path="a.txt", content="x")


def test_a_file_is_edited_only_as_it_was_when_it_was_last_read(bench: Bench) -> None:
    (bench.folder / "a.txt").write_text("one")
    (bench.folder / "link.txt").symlink_to("a.txt")

    assert "has not been read yet" in bench.error("edit_file", path="a.txt", old="one", new="two")
    bench.text("read_file", path="a.txt")
    (bench.folder / "a.txt").write_text("one, by somebody else")
    assert "has changed since it was read" in bench.error("edit_file", path="a.txt", old="one", new="two")
    assert (bench.folder / "a.txt").read_text() == "one, by somebody else"

    bench.text("read_file", path="link.txt")
    bench.text("edit_file", path="a.txt", old="one", new="two")
    bench.text("edit_file", path="a.txt", old="two", new="three")
    bench.text("write_file", path="b.txt", content="mine")
    bench.text("edit_file", path="b.txt", old="mine", new="ours")
    assert (bench.folder / "a.txt").read_text() == "three, by somebody else"


def test_an_edit_needs_exactly_one_match_unless_all_are_meant(bench: Bench) -> None:
    (bench.folder / "a.txt").write_text("x\nx\naaa\n")
    bench.text("read_file", path="a.txt")

    assert "not in the file" in bench.error("edit_file", path="a.txt", old="y", new="z")
    assert "2 times" in bench.error("edit_file", path="a.txt", old="x", new="z")
    assert "2 times" in bench.error("edit_file", path="a.txt", old="aa", new="z")
    assert (bench.folder / "a.txt").read_text() == "x\nx\naaa\n"

    bench.text("edit_file", path="a.txt", old="x", new=r"\1", replace_all=True)
    assert (bench.folder / "a.txt").read_text() == "\\1\n\\1\naaa\n"


def test_an_edit_keeps_the_line_ends_and_the_mark_of_a_windows_file(bench: Bench) -> None:
    (bench.folder / "w.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n")

    assert bench.text("read_file", path="w.txt") == "     1\tone\n     2\ttwo\n     3\tthree"
    bench.text("edit_file", path="w.txt", old="one\ntwo\n", new="1\n2\n")
    bench.text("edit_file", path="w.txt", old="three", new="3\n4")

    assert (bench.folder / "w.txt").read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n3\r\n4\r\n"


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("old", ["\nfoo", "foo\n", "\nfoo\n", "\n\n", "\r\nfoo"])
def test_a_line_end_of_a_windows_file_is_found_once(old: str, everywhere: bool) -> None:
    text = "a\nfoo\nb\n\n"
    plain = replaced(text, old, "x\ny", everywhere=everywhere)

    assert replaced(text.replace("\n", "\r\n"), old, "x\ny", everywhere=everywhere) == plain.replace("\n", "\r\n")


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
        (ToolCall(id="1", name="execute", arguments={"command": "a |\nb"}), "running a | b"),
        (ToolCall(id="1", name="ls"), "listing ."),
        (ToolCall(id="1", name="grep", arguments={"pattern": "x y", "path": "src"}), "searching src for x y"),
        (ToolCall(id="1", name="glob", arguments={"pattern": "*.py"}), "looking for *.py in ."),
        (ToolCall(id="1", name="task", arguments={"description": "find\nit"}), "handing over: find it"),
        (ToolCall(id="1", name="fly"), "calling fly"),
    ],
)
def test_a_call_is_told_to_people_in_one_line(call: ToolCall, line: str) -> None:
    assert narration(call) == line


def test_files_are_found_by_their_names(bench: Bench) -> None:
    for name in ("a.py", "src/b.py", "src/deep/test_b.py", "src/deep/c.txt", "node_modules/d.py"):
        (bench.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.folder / name).touch()

    assert bench.text("glob", pattern="*.py") == "a.py\nsrc/b.py\nsrc/deep/test_b.py"
    assert bench.text("glob", pattern="src/**/*.py") == "src/b.py\nsrc/deep/test_b.py"
    assert bench.text("glob", pattern="*/*.py") == "src/b.py"
    assert bench.text("glob", pattern="**/deep/**") == "src/deep/c.txt\nsrc/deep/test_b.py"
    assert bench.text("glob", pattern="deep/*.py", path="src") == "src/deep/test_b.py"
    assert bench.text("glob", pattern="deep/*.py", path="./src/") == "src/deep/test_b.py"
    assert bench.text("glob", pattern="*/*.py", path="./") == "src/b.py"
    assert bench.text("glob", pattern="*.rs") == "no file matches"


@given(path=st.lists(st.text("ab", min_size=1), min_size=1, max_size=6), stars=st.integers(0, 6))
def test_two_stars_stand_for_any_folders_and_every_path_matches_itself(path: list[str], stars: int) -> None:
    name = "/".join(path)

    assert matches(name, f"**/{name}")
    assert matches(name, "/".join([*path[:stars], "**", *path[stars:]]))
    assert not matches(f"{name}/x", f"**/{name}")


def test_a_pattern_of_many_stars_takes_no_time_to_speak_of() -> None:
    assert not matches("/".join(["a" * 200] * 20), "/".join(["*a" * 30 + "b"] * 3 + ["**"] * 30 + ["x"]))


def test_ripgrep_is_asked_in_a_way_that_no_pattern_is_taken_for_an_option(bench: Bench) -> None:
    bench.terminal.stdout = "./a.py:1:x\n" * 300

    found = bench.text("grep", pattern="--pre=sh", glob="*.py", ignore_case=True).splitlines()

    assert found[0] == "a.py:1:x" and len(found) == 201 and found[-1] == "… more than 200 lines: narrow the search"
    [command] = bench.terminal.commands
    assert command.argv[:2] == ("rg", "--no-config") and command.argv[-3:] == ("--regexp=--pre=sh", "--", ".")
    assert {"--glob=*.py", "--glob=!.git", "--ignore-case", "--hidden"} <= set(command.argv)
    assert command.cwd == bench.folder


def test_what_a_search_says_is_told_apart_from_what_it_finds(bench: Bench) -> None:
    bench.terminal.exit_code = 1
    assert bench.text("grep", pattern="x") == "no line matches"

    bench.terminal.exit_code, bench.terminal.stderr = 2, "unclosed group\n"
    assert bench.error("grep", pattern="(") == "error: unclosed group"

    bench.terminal.exit_code, bench.terminal.termination, bench.terminal.stderr = None, "timeout", ""
    assert "timed out after 5 s" in bench.error("grep", pattern="x")

    bench.terminal.termination = "not_started"
    assert "neither rg nor python3" in bench.error("grep", pattern="x")
    assert [command.argv[0] for command in bench.terminal.commands] == ["rg", "rg", "rg", "rg", "python3"]


def test_what_is_to_do_is_kept_and_read_again(bench: Bench) -> None:
    todos = [{"content": "write\nit", "status": "completed"}, {"content": "test it", "status": "in_progress"}]

    assert bench.text("read_todos") == "nothing is to do"
    bench.text("write_todos", todos=todos)
    bench.error("write_todos", todos=[{"content": "", "status": "pending"}])
    assert bench.text("read_todos") == "[x] write it\n[~] test it"
    bench.text("write_todos", todos=[])
    assert bench.text("read_todos") == "nothing is to do"
