"""What real repositories need: a red base told first, files that git ignores."""

from __future__ import annotations

from tests.e2e.conftest import Sandbox

TEST = """import pathlib

def test_settings():
    assert pathlib.Path(".env").read_text() == "TOKEN=abcdef-123456\\n"

def test_two():
    from pkg import two
    assert two() == 2
"""
ROADMAP = "- [ ] Let two give two\n  - write pkg.py 'def two(): return 2'\n  - Verify: `pytest -q test_all.py`\n"


def test_a_red_base_is_told_before_an_agent_works_and_an_ignored_file_is_offered_and_copied(sandbox: Sandbox) -> None:
    sandbox.write("pkg.py", "def two(): return 1\n")
    sandbox.write("test_all.py", TEST)
    sandbox.write(".gitignore", ".env\n")
    sandbox.write(".env", "TOKEN=abcdef-123456\n")
    sandbox.roadmap(ROADMAP)

    first = sandbox.milepost("run", "--agent", sandbox.agent, "--json")
    said = [event["text"] for event in first.events if event.get("text", "").startswith("the base is red")]
    assert first.code == 1 and said, first.stdout
    assert "2 tests fail of 2 before any work" in said[0] and '[workspace] copy = [".env"]' in said[0]

    task = first.events[-1]["tasks"][0]["id"]
    told = sandbox.milepost("run", "--new", "--task", task, "--agent", sandbox.agent).stderr
    assert "the base is red: 2 tests fail of 2" in " ".join(told.split()), told
    sandbox.write("milepost.toml", '[workspace]\ncopy = [".env"]\n')
    sandbox.commit("Settings")
    again = sandbox.milepost("run", "--new", "--task", task, "--agent", sandbox.agent)
    assert again.code == 0, again.stdout + again.stderr
    assert ".env" not in sandbox.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert "abcdef-123456" not in again.stdout + again.stderr
