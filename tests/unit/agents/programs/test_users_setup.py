"""What a user set a program up with at home, lent to its private home."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from milepost.agents.programs import users_setup
from milepost.agents.programs.home import made
from milepost.agents.programs.users_setup import lend_setup


def test_settings_are_lent_without_keys_and_with_their_paths_in_the_private_home(tmp_path: Path) -> None:
    users, home = tmp_path / "user", made(tmp_path / "kept")
    hook = users / ".claude/hooks/look.sh"
    hook.parent.mkdir(parents=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    settings = {
        "model": "m-1",
        "env": {"GITHUB_TOKEN": "k-1"},
        "apiKeyHelper": "cat ~/key",
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": str(hook)}]}]},
        "mcp": {"x": {"headers": {"Authorization": "k-2"}, "auth_token": "k-3"}},
    }
    (users / ".claude/settings.json").write_text(json.dumps(settings))
    lent = lend_setup((".claude/settings.json", ".claude/hooks", ".claude/skills"), users_home=users, home=home)

    assert lent.given == (".claude/settings.json", ".claude/hooks") and not lent.left
    text = (home / ".claude/settings.json").read_text()
    assert json.loads(text)["model"] == "m-1" and json.loads(text)["mcp"] == {"x": {}}
    assert not any(key in text for key in ("k-1", "k-2", "k-3", "key"))
    there = json.loads(text)["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert there == str(home / ".claude/hooks/look.sh") and os.access(there, os.X_OK)


def test_files_with_secrets_pipes_and_what_is_too_much_stay_at_home_and_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users, home = tmp_path / "user", made(tmp_path / "kept")
    skills = users / ".claude/skills/a"
    skills.mkdir(parents=True)
    (skills / ".env").write_text("KEY=1")
    (skills / "SKILL.md").write_text("how")
    (users / "key.pem").write_text("secret")
    (skills / "notes.md").symlink_to(users / "key.pem")
    os.mkfifo(skills / "pipe")
    (users / ".claude/settings.json").write_text("{not json")
    lent = lend_setup((".claude/settings.json", ".claude/skills"), users_home=users, home=home)

    assert lent.given == (".claude/skills",)
    assert [what.partition(" ")[0] for what in lent.left] == [
        ".claude/settings.json",
        *(f".claude/skills/a/{name}" for name in (".env", "notes.md", "pipe")),
    ]
    assert [path.name for path in home.rglob("*") if path.is_file()] == ["SKILL.md"]

    monkeypatch.setattr(users_setup, "MOST_FILES", 0)
    assert (
        lend_setup((".claude/skills",), users_home=users, home=home).left[-1].startswith("the rest of .claude/skills")
    )
