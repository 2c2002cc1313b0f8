"""Shims of toolchains work in the sandbox, where HOME is not the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.commands import Command
from milepost.sandbox.terminal import WalledTerminal

SHIM = '#!/bin/sh\nexec "${ASDF_DATA_DIR:-$HOME/.asdf}/installs/tool/$(cat "$HOME/.tool-versions")/bin/tool" "$@"\n'


def test_a_shim_finds_the_version_that_the_user_wants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, checkout = tmp_path / "users" / "me", tmp_path / "checkout"
    checkout.mkdir()
    _program(home / ".asdf/installs/tool/1.2/bin/tool", "#!/bin/sh\necho version 1.2\n")
    shim = _program(home / ".asdf/shims/tool", SHIM)
    (home / ".tool-versions").write_text("1.2\n")
    (home / ".ssh").mkdir()
    (tmp_path / "linked").symlink_to(home)
    monkeypatch.setenv("PATH", f"{shim.parent}:/usr/bin:/bin")
    for users in (home, tmp_path / "linked"):
        with WalledTerminal(home=users) as terminal:
            scratch = tmp_path / f"scratch-{users.name}"
            done = terminal.run(Command(argv=("tool",), cwd=checkout, scratch=scratch))
            assert (done.stdout, done.stderr) == ("version 1.2\n", "")
            assert not terminal.run(Command(argv=("ls", str(home / ".ssh")), cwd=checkout, scratch=scratch)).succeeded


def _program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path
