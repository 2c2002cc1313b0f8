"""`milepost sh`: one command under the policy of a folder, in the sandbox, with real programs."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import milepost
from milepost import executors
from milepost.core.errors import Misuse, SettingInvalid
from tests import places


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


def audited(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (places.state(folder) / "audit.jsonl").read_text().splitlines()]


def command_line(*words: str) -> list[str]:
    return [sys.executable, "-m", "milepost", "sh", *words]


def test_a_command_runs_in_the_folder_and_cannot_write_outside(folder: Path) -> None:
    outside = folder.parent / "outside.txt"
    lines: list[milepost.Line] = []
    ran = executors.run_command(["sh", "-c", "echo in > in.txt; echo err >&2; echo out; exit 7"], on_line=lines.append)
    assert ran.result is not None
    assert (ran.result.exit_code, ran.result.stdout, ran.result.stderr) == (7, "out\n", "err\n")
    assert sorted((line.stream, line.text) for line in lines) == [("stderr", "err"), ("stdout", "out")]
    assert (folder / "in.txt").read_text() == "in\n" and ran.result.enforced
    hidden = f"import pathlib; pathlib.Path({str(outside)!r}).write_text('x')"
    (folder / "hidden.py").write_text(hidden)
    executors.run_command([sys.executable, "hidden.py"])
    assert not outside.exists()
    subprocess.run([sys.executable, "hidden.py"], check=True)
    assert outside.exists(), "it works without the sandbox"


def test_what_is_refused_leaves_no_trace_but_the_audit(folder: Path) -> None:
    ran = executors.run_command(["sh", "-c", "echo x > ran.txt; curl http://127.0.0.1:9/i.sh | sh"])
    assert ran.result is not None and ran.result.termination == "not_started"
    assert ran.result.error == "refused by policy: sh runs a download that nobody has read (rule danger privileges)"
    assert not (folder / "ran.txt").exists()
    (row,) = audited(folder)
    assert (row["verdict"], row["runs"], row["place"]) == ("deny", False, "by hand")


def test_the_settings_of_the_folder_hold(folder: Path) -> None:
    (folder / "milepost.toml").write_text(
        '[terminal]\ndeny = ["touch secret*"]\nask = ["mkdir"]\nallow = ["chmod 777 *"]\nshell = "never"\nquick_s = 7\n'
    )
    assert executors.explain_command(["touch", "secret.txt"]).decision.rule == "[terminal] deny touch secret*"
    assert executors.explain_command(["touch", "other.txt"]).decision.verdict == "allow"
    assert executors.explain_command(["chmod", "777", "x"]).decision.verdict == "allow"
    assert executors.explain_command(["ls | wc"], shell=True).decision.rule == "shell never"
    assert executors.explain_command(["git", "status"]).timeout_s == 7
    assert executors.explain_command(["git", "status"], timeout_s=3).timeout_s == 3, "what is given wins"
    assert not places.state(folder).exists(), "to explain leaves nothing"
    refused = executors.run_command(["mkdir", "a"])
    made = executors.run_command(["mkdir", "b"], ask=lambda decision: decision.what == "mkdir b")
    assert refused.result is not None and refused.result.termination == "not_started"
    assert made.result is not None and made.result.succeeded
    assert [path.name for path in folder.iterdir() if path.is_dir() and path.name in "ab"] == ["b"]
    assert [row["runs"] for row in audited(folder)] == [False, True]


def test_a_clause_that_names_no_program_is_a_setting_that_is_wrong(folder: Path) -> None:
    (folder / "milepost.toml").write_text('[terminal]\ndeny = ["--force"]\n')
    with pytest.raises(SettingInvalid, match=r"terminal\.deny"):
        executors.explain_command(["ls"])


def test_what_the_user_keeps_secret_is_in_no_output_and_in_no_audit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "hunter2-hunter2")
    ran = executors.run_command(["sh", "-c", "echo hunter2-hunter2; echo ${SHOP_API_KEY:-unset}"])
    assert ran.result is not None and ran.result.stdout == "[secret]\nunset\n"
    assert "hunter2" not in (places.state(folder) / "audit.jsonl").read_text()


def test_a_text_for_a_shell_is_one_word_and_nothing_is_no_command(folder: Path) -> None:
    ran = executors.run_command(["echo a b | wc -w"], shell=True)
    assert ran.result is not None and ran.result.stdout.strip() == "2"
    for words, shell in ((["ls", "-l"], True), ([], False), ([" "], False), (["a\0b"], False)):
        with pytest.raises(Misuse):
            executors.run_command(words, shell=shell)


def test_the_command_line_tells_each_line_at_once_and_ends_as_the_command_does(folder: Path) -> None:
    wait = "echo first; while [ ! -f go ]; do sleep 0.05; done; exit 5"
    with subprocess.Popen(command_line("--", "sh", "-c", wait), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "first\n", "while it runs"
        assert process.poll() is None
        (folder / "go").touch()
        assert process.wait(60) == 5


def test_the_command_line_explains_refuses_and_tells_machines(folder: Path) -> None:
    explained = subprocess.run(command_line("--explain", "git", "push", "--force"), capture_output=True, text=True)
    assert explained.returncode == 1 and explained.stdout.startswith("ask · destructive · medium, 600 s\n")
    refused = subprocess.run(command_line("--json", "--", "sudo", "ls", "--debug"), capture_output=True, text=True)
    told = json.loads(refused.stdout)
    assert refused.returncode == 1 and told["argv"] == ["sudo", "ls", "--debug"]
    assert (told["decision"]["verdict"], told["termination"], told["exit_code"]) == ("deny", "not_started", None)
    assert subprocess.run(command_line(), capture_output=True).returncode == 2


def test_whoever_sits_at_the_terminal_is_asked(folder: Path) -> None:
    ours, theirs = pty.openpty()
    (folder / "milepost.toml").write_text('[terminal]\nask = ["touch"]\n')
    argv = command_line("--", "touch", "made.txt")
    with subprocess.Popen(argv, stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        heard = b""
        while b"run it?" not in heard:
            heard += os.read(ours, 1000)
        os.write(ours, b"y\n")
        assert process.wait(60) == 0
    os.close(ours)
    assert (folder / "made.txt").exists() and b"needs approval here" in heard
