"""What a program is permitted and served of its workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from milepost.agents.programs.acp.workspace import Outside, answer, objection, read_text, write_text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a link out of it and one to nowhere, beside a folder of somebody else's."""
    root = tmp_path / "workspace"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("one\ntwo\nthree\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "nowhere").symlink_to(tmp_path / "outside" / "new")
    return root


@pytest.mark.parametrize(
    "call",
    [
        {},
        {"locations": [{"path": "{root}/src/a.py"}], "kind": "edit"},
        {"locations": [{"path": "{root}"}], "kind": "read"},
        {"content": [{"type": "diff", "path": "src/new.py", "newText": "/etc/passwd"}]},
        {"rawInput": {"file_path": "{root}/src/a.py", "content": "read /etc/passwd"}},
        {"rawInput": {"url": "https://example.org/etc"}, "kind": "fetch"},
        {"rawInput": {"path": "https://example.org/etc"}, "kind": "fetch"},
        {"kind": "execute", "title": "make test", "rawInput": {"command": "make -C {root}/src test 2>/dev/null"}},
        {"kind": "execute", "title": "/usr/bin/env python3 -m pytest"},
        {"kind": "execute", "title": "sed -n '/begin/,/end/p' src/a.py; awk '/x/ {print}' a | grep '// TODO'"},
        {"kind": "execute", "rawInput": {"command": ["ls", "--color=never", "./src/../src"], "cwd": "{root}"}},
        {"kind": "read", "title": "Read /etc/passwd as an example"},
    ],
)
def test_what_stays_in_the_workspace_is_permitted(call: dict[str, Any], root: Path) -> None:
    assert objection(root, _at(call, root)) == ""


@pytest.mark.parametrize(
    ("call", "path"),
    [
        ({"locations": [{"path": "{root}/src/a.py"}, {"path": "/etc/passwd"}]}, "/etc/passwd"),
        ({"locations": [{"path": "../outside/secret"}]}, "../outside/secret"),
        ({"locations": [{"path": "{root}/out/secret"}]}, "{root}/out/secret"),
        ({"locations": [{"path": "nowhere"}]}, "nowhere"),
        ({"locations": [{"path": "~/.ssh/id_rsa"}]}, "~/.ssh/id_rsa"),
        ({"locations": [{"path": "a\0b"}]}, "a\0b"),
        ({"locations": [{"path": "{root}2/x"}]}, "{root}2/x"),
        ({"content": [{"type": "diff", "path": "/home/ann/.bashrc"}]}, "/home/ann/.bashrc"),
        ({"rawInput": {"filePath": "/etc/shadow"}}, "/etc/shadow"),
        ({"rawInput": {"edits": [{"paths": ["src/a.py", "/etc/hosts"]}]}}, "/etc/hosts"),
        ({"rawInput": {"workingDirectory": "/"}, "kind": "execute"}, "/"),
        ({"kind": "execute", "title": "cat /etc/passwd"}, "/etc/passwd"),
        ({"kind": "execute", "title": "cat //etc/passwd"}, "//etc/passwd"),
        ({"kind": "execute", "title": "find / -name key"}, "/"),
        ({"kind": "execute", "rawInput": {"command": "cat <../outside/secret"}}, "../outside/secret"),
        ({"kind": "execute", "rawInput": {"command": ["cp", "x", "--to=/home/ann/x"]}}, "/home/ann/x"),
        ({"kind": "execute", "rawInput": {"command": "cat $(ls ~/.ssh)"}}, "~/.ssh"),
        ({"kind": "execute", "rawInput": {"command": "cat /usr/../etc/passwd"}}, "/usr/../etc/passwd"),
    ],
)
def test_what_names_a_path_outside_is_refused(call: dict[str, Any], path: str, root: Path) -> None:
    assert objection(root, _at(call, root)) == f"it names {_at(path, root)!r}, which is outside the workspace"


@pytest.mark.parametrize("odd", [{"locations": 1}, {"locations": [1]}, {"content": {}}, {"rawInput": [[[]]]}])
def test_what_is_of_no_known_shape_names_nothing(odd: dict[str, Any], root: Path) -> None:
    assert objection(root, odd) == ""


def test_an_answer_is_for_this_time_only_where_that_is_offered() -> None:
    always, once = {"optionId": "1", "kind": "allow_always"}, {"optionId": "2", "kind": "allow_once"}
    no = {"optionId": "3", "kind": "reject_always"}

    assert answer([always, once, no], permitted=True) == {"outcome": "selected", "optionId": "2"}
    assert answer([no, always], permitted=True) == {"outcome": "selected", "optionId": "1"}
    assert answer([always, once, no], permitted=False) == {"outcome": "selected", "optionId": "3"}


@pytest.mark.parametrize("options", [[{"optionId": "1", "kind": "allow_once"}], [], None, [1, {"kind": "reject_once"}]])
def test_what_cannot_be_refused_in_the_right_way_is_cancelled_and_never_allowed(options: object) -> None:
    assert answer(options, permitted=False) == {"outcome": "cancelled"}


def test_a_file_is_read_from_a_line_on(root: Path) -> None:
    assert read_text(root, "src/a.py") == "one\ntwo\nthree\n"
    assert read_text(root, str(root / "src" / "a.py"), line=2, limit=1) == "two\n"
    assert read_text(root, "src/a.py", line=-5, limit=-5) == ""
    with pytest.raises(FileNotFoundError):
        read_text(root, "src/b.py")


def test_a_file_is_written_with_its_folders(root: Path) -> None:
    write_text(root, "new/deep/b.py", "b\r\n")

    assert (root / "new" / "deep" / "b.py").read_bytes() == b"b\r\n"


@pytest.mark.parametrize(
    "path", ["", ".", "..", "../outside/secret", "out/secret", "nowhere", "/etc/hostname", ".git/config", "src/.GIT/x"]
)
def test_no_file_outside_is_served(path: str, root: Path) -> None:
    with pytest.raises(Outside):
        write_text(root, path, "broken")
    with pytest.raises(Outside):
        read_text(root, path)

    assert sorted(each.name for each in (root.parent / "outside").iterdir()) == ["secret"]
    assert (root.parent / "outside" / "secret").read_text() == "secret"


def test_a_file_with_a_second_name_outside_is_not_written(root: Path) -> None:
    (root / "hard").hardlink_to(root.parent / "outside" / "secret")

    with pytest.raises(Outside, match="hard link"):
        write_text(root, "hard", "broken")

    assert (root.parent / "outside" / "secret").read_text() == "secret"


def test_a_file_that_cannot_be_encoded_is_left_as_it_is(root: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        write_text(root, "src/a.py", "\ud800")

    assert (root / "src" / "a.py").read_text() == "one\ntwo\nthree\n"


def _at(value: Any, root: Path) -> Any:
    """The value with every `{root}` in it filled."""
    if isinstance(value, dict):
        return {key: _at(each, root) for key, each in value.items()}
    if isinstance(value, list):
        return [_at(each, root) for each in value]
    return value.replace("{root}", str(root)) if isinstance(value, str) else value
