"""Managers of toolchains are told where they are, with the user's HOME elsewhere, and show nothing secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.sandbox.environment import prepare_scratch
from milepost.sandbox.toolchain_managers import ManagersInUse, managers_in_use

CWD = Path("/checkout")


def used(path: Path | str, home: Path, **environ: str) -> ManagersInUse:
    return managers_in_use(str(path), home, CWD, environ)


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("variable", "on_path", "readable"),
    [
        ("PYENV_ROOT", ".pyenv/shims", {".pyenv/shims", ".pyenv/versions"}),
        ("RBENV_ROOT", ".rbenv/shims", {".rbenv/shims", ".rbenv/versions"}),
        ("NVM_DIR", ".nvm/versions/node/v22/bin", {".nvm/versions"}),
        ("VOLTA_HOME", ".volta/bin", {".volta/bin"}),
        ("ASDF_DATA_DIR", ".asdf/shims", {".asdf"}),
        ("MISE_DATA_DIR", ".local/share/mise/shims", {".local/share/mise/shims"}),
    ],
)
def test_shims_on_path_bring_the_manager_and_say_where_it_is(
    tmp_path: Path, variable: str, on_path: str, readable: set[str]
) -> None:
    (tmp_path / on_path).mkdir(parents=True)
    for name in (".pyenv", ".rbenv"):
        if name in on_path:
            (tmp_path / name / "versions").mkdir()
    found = used(tmp_path / on_path, tmp_path)
    assert found.variables[variable].startswith(str(tmp_path))
    assert set(found.readable) == {tmp_path / name for name in readable}
    assert used("/usr/bin", tmp_path).variables == {}


def test_a_manager_of_another_user_whose_variables_were_kept_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs/.pyenv"
    (theirs / "shims").mkdir(parents=True)
    monkeypatch.setattr("os.access", lambda path, mode, **_: not str(path).startswith(str(theirs)))
    assert used(theirs / "shims", tmp_path / "mine", PYENV_ROOT=str(theirs)).variables == {}


def test_rustup_is_known_by_its_program_wherever_it_is_installed(tmp_path: Path) -> None:
    proxies, toolchains, home = tmp_path / "cargo/bin", tmp_path / "rustup", tmp_path / "home"
    program(proxies / "rustup")
    toolchains.mkdir()
    (home / ".rustup").mkdir(parents=True)
    assert used(proxies, home, RUSTUP_HOME=str(toolchains)).variables == {"RUSTUP_HOME": str(toolchains)}
    assert used(proxies, home).variables == {"RUSTUP_HOME": str(home / ".rustup")}


def test_a_variable_that_names_the_home_opens_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    (tmp_path / "linked").symlink_to(home)
    for named in (home, tmp_path, tmp_path / "linked"):
        assert used(home / "bin", home, ASDF_DATA_DIR=str(named)).readable == ()


def test_the_versions_that_a_user_wants_are_lent_without_the_variables_beside_them(tmp_path: Path) -> None:
    home, scratch = tmp_path / "home", tmp_path / "scratch"
    (home / ".local/share/mise/shims").mkdir(parents=True)
    (home / ".config/mise").mkdir(parents=True)
    (home / ".tool-versions").write_text("nodejs 22.1.0\n")
    (home / ".config/mise/config.toml").write_text(
        '[env]\nTOKEN = "secret"\n[tools]\npython = ["3.12", "3.11"]\ngo = {version = "1.23"}\nodd = 3\n'
    )
    found = used(home / ".local/share/mise/shims", home)
    assert found.variables["MISE_TRUSTED_CONFIG_PATHS"] == str(CWD)
    assert found.lent == {
        ".tool-versions": "nodejs 22.1.0\n",
        ".config/mise/config.toml": '[tools]\n"python" = ["3.12", "3.11"]\n"go" = "1.23"\n',
    }
    prepare_scratch(scratch, found.lent)
    assert (scratch / "home/.tool-versions").read_text() == "nodejs 22.1.0\n"


def test_what_is_lent_follows_no_link_that_a_guest_left(tmp_path: Path) -> None:
    (tmp_path / "scratch/home").mkdir(parents=True)
    (tmp_path / "users").mkdir()
    (tmp_path / "scratch/home/.config").symlink_to(tmp_path / "users")
    prepare_scratch(tmp_path / "scratch", {".config/mise/config.toml": "[tools]\n"})
    assert not any((tmp_path / "users").iterdir())
