"""What an agent is shown of the repository: in its prompt, the same after a kill, and by hand."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

from tests import places
from tests.e2e.conftest import Sandbox
from tests.fakes.model_server import ModelServer

TITLE = "## What the repository has for this task"
ROADMAP = (
    "# Roadmap\n\n- [ ] 1.1 Write one\n  - Verify: `grep -qx 1 one.txt`\n"
    "- [ ] 1.2 Let `parse_duration` read hours\n  - Files: app/parse.py\n  - Depends on: 1.1\n"
    "  - Verify: `grep -q hours app/parse.py`\n"
)
PARSE = "from app.units import Unit\n\n\ndef parse_duration(text):\n    return Unit(text)\n"


def writing(name: str, text: str) -> list[dict[str, Any]]:
    call = {"name": "write_file", "arguments": {"path": name, "content": text}}
    return [{"text": f"I write {name}.", "calls": [call]}, {"text": "Done."}]


TASKS = {"1.1": [writing("one.txt", "1\n")], "1.2": [writing("app/parse.py", "# hours\n")]}


def project(sandbox: Sandbox, settings: str = "") -> None:
    sandbox.write("app/parse.py", PARSE)
    sandbox.write("app/units.py", "class Unit:\n    def in_hours(self): ...\n")
    sandbox.write(".env", "PASSWORD=plain-and-simple\n")
    sandbox.write("AGENTS.md", "Write tabs.\n")
    sandbox.write("app/CLAUDE.md", "No classes in app.\n")
    if settings:
        sandbox.write("milepost.toml", settings)
    sandbox.roadmap(ROADMAP)


def told(server: ModelServer, task: str, answer: int) -> list[str]:
    """All that the model was told before one of its answers, each time that it was asked for it."""
    found = [one for one in server.questions if (one.task, one.answer) == (task, answer)]
    return [json.dumps([one.asked.told, one.body], sort_keys=True) for one in found]


def kill_at(sandbox: Sandbox, server: ModelServer, words: tuple[str, ...], task: str, answer: int) -> None:
    before = len(told(server, task, answer))
    with sandbox.start(*words) as run:
        deadline = time.monotonic() + 120
        while len(told(server, task, answer)) == before:
            assert time.monotonic() < deadline and run.poll() is None
            time.sleep(0.02)
        os.kill(run.pid, signal.SIGKILL)
        run.communicate(timeout=60)


def test_a_model_is_shown_the_same_after_a_kill_before_and_after_its_first_answer(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    hangs = [{"kind": "hang", "seconds": 60, "task": "1.2", "answer": answer} for answer in (1, 2)]
    with ModelServer({"tasks": TASKS, "faults": hangs}, tmp_path / "log") as server:
        project(sandbox, server.settings())
        kill_at(sandbox, server, ("run", "--agent", "tool"), "1.2", 1)
        kill_at(sandbox, server, ("resume",), "1.2", 2)
        end = sandbox.milepost("resume")
        assert end.code == 0, end.stderr
        first, second = told(server, "1.2", 1), told(server, "1.2", 2)
    assert (len(first), len(second)) == (2, 2) and len({*first}) == len({*second}) == 1
    prompt = json.loads(first[0])[0]
    assert TITLE in prompt and "--- app/parse.py ---\nfrom app.units import Unit" in prompt
    assert "app/units.py:\n    1  class Unit" in prompt
    assert "# Done earlier in this run, newest first\n- 1.1 Write one: one.txt (created)" in prompt
    assert "plain-and-simple" not in prompt
    assert prompt.index("app/CLAUDE.md:") < prompt.index("AGENTS.md:\n```text\nWrite tabs.") < prompt.index(TITLE)
    shown = sandbox.milepost("proof", "1.2").stdout
    assert "given       of the repository: app/CLAUDE.md, AGENTS.md\n" in shown


def test_a_program_is_shown_a_beginning_and_the_setting_turns_it_off(sandbox: Sandbox) -> None:
    copying = "command:sh -c 'cat > one.txt; echo 1 >> one.txt'"
    project(sandbox)
    done = sandbox.milepost("run", "--agent", copying, "--task", "1.1")
    assert done.code == 0, done.stderr
    prompt = sandbox.git("show", "HEAD:one.txt")
    assert TITLE in prompt and "app/units.py:\n    1  class Unit" in prompt
    assert "# Files that the task mentions" not in prompt
    sandbox.write("milepost.toml", "[context]\ntokens = 0\n")
    sandbox.write("one.txt", "")
    sandbox.roadmap(ROADMAP)
    done = sandbox.milepost("run", "--agent", copying, "--task", "1.1")
    assert done.code == 0, done.stderr
    assert TITLE not in sandbox.git("show", "HEAD:one.txt")


def test_the_context_of_a_task_is_printed_with_the_tokens_of_its_sections(sandbox: Sandbox) -> None:
    project(sandbox)
    assert "Write tabs." not in sandbox.milepost("context", "1.2", "--agent", "claude", "--json").stdout
    made = sandbox.milepost("context", "1.2", "--json").json
    assert made["tokens"] <= made["budget"] == 50_000
    assert [rules["file"] for rules in made["rules"]] == ["app/CLAUDE.md", "AGENTS.md"]
    names = [section["name"] for section in made["sections"]]
    assert names == ["facts", "files", "outline", "structure"]
    assert "plain-and-simple" not in json.dumps(made)
    page = sandbox.milepost("context", "1.2").stdout
    assert page.startswith("1.2  Let `parse_duration` read hours\nfor tool at ")
    assert "of 50000 tokens of 4 bytes\n" in page
    assert "\n--- app/parse.py ---\nfrom app.units import Unit\n" in page
    small = sandbox.milepost("context", "1.2", "--tokens", "60", "--json").json
    assert small["tokens"] <= 60 and small["left_out"]
    assert sandbox.milepost("context", "9.9").code == 2
    nothing = sandbox.milepost("context", "1.2", "--agent", "pattern:rename_symbol")
    assert nothing.stdout.endswith("nothing is shown to pattern\n")
    assert sandbox.git("status", "--porcelain") == "" and not places.state(sandbox.repo).exists()
