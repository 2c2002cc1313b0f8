"""What a guest can reach, on made-up trees."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.commands import NO_NETWORK, OPEN_NETWORK, OWN_LOOPBACK, Command
from milepost.sandbox.visible_paths import (
    DEVICES,
    OWN_PROC,
    SYSTEM,
    Missing,
    Reach,
    find_program,
    for_all,
    led_out_of,
    reach,
    toolchains,
)


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def folders(root: Path, *names: str) -> None:
    for name in names:
        (root / name).mkdir(parents=True)


def link(path: Path, target: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home/.ssh").mkdir(parents=True)
    (tmp_path / "home/.ssh/id_rsa").write_text("secret")
    return tmp_path / "home"


TRUE = Path("/usr/bin/true")


def test_an_installation_on_path_is_readable_by_its_parts_only(tmp_path: Path, home: Path) -> None:
    tool = tmp_path / "tool"
    folders(tool, "bin", "lib", "share", "secrets")
    assert toolchains(f"{tool}/bin:/usr/bin", home=home, program=TRUE) == (tool / "bin", tool / "lib", tool / "share")


def test_folders_of_path_in_the_home_open_no_more_than_their_programs(home: Path) -> None:
    folders(home, "bin", "lib", ".local/bin", ".local/lib", ".local/share/keyrings")
    found = toolchains(f"{home}/bin:{home}/.local/bin", home=home, program=TRUE)
    assert found == (home / "bin", home / ".local/bin", home / ".local/lib")


@pytest.mark.parametrize("entry", [".", "..", "", "relative/bin"])
def test_the_home_what_holds_it_and_relative_folders_are_never_opened(home: Path, entry: str) -> None:
    path = str(home / entry) if entry.startswith(".") else entry
    assert toolchains(path, home=home, program=TRUE) == ()


def test_a_home_behind_a_link_is_opened_no_further_by_either_of_its_names(tmp_path: Path, home: Path) -> None:
    folders(home, "bin", "lib", ".local/bin", ".local/lib", ".local/share/keyrings", ".cargo/bin", ".cargo/lib")
    linked = link(tmp_path / "linked", home)
    for named, on_path in ((linked, linked), (linked, home), (home, linked)):
        path = ":".join(f"{on_path}/{name}/bin" for name in (".", ".local", ".cargo"))
        found = toolchains(path, home=named, program=TRUE)
        opened = {str(each.resolve().relative_to(home)) for each in found}
        assert opened == {"bin", ".local/bin", ".local/lib", ".cargo/bin"}


def test_system_folders_are_opened_around_a_home_that_a_link_leads_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders(tmp_path, "opt/tool", "opt/homes/me", "opt/homes/you", "work", "scratch")
    home = link(tmp_path / "home", tmp_path / "opt/homes/me")
    monkeypatch.setattr("milepost.sandbox.visible_paths.SYSTEM", (tmp_path / "opt",))
    command = Command(argv=("true",), cwd=tmp_path / "work", scratch=tmp_path / "scratch")
    found = reach(command, program=TRUE, path="/usr/bin", home=home)
    assert {tmp_path / "opt/tool", tmp_path / "opt/homes/you"} <= set(found.readable)
    assert not {tmp_path / "opt", tmp_path / "opt/homes", tmp_path / "opt/homes/me"} & set(found.readable)


def test_pyenv_shims_bring_pyenv(home: Path) -> None:
    pyenv = home / ".pyenv"
    folders(pyenv, "shims", "libexec", "versions/3.12/bin", "bin", "plugins", ".git")
    (pyenv / "version").write_text("3.12\n")
    found = toolchains(str(pyenv / "shims"), home=home, program=TRUE)
    assert set(found) == {pyenv / part for part in ("shims", "libexec", "versions", "bin", "plugins", "version")}


def test_cargo_on_path_is_readable_but_for_its_credentials(home: Path) -> None:
    folders(home, ".cargo/bin", ".cargo/registry")
    (home / ".cargo/credentials.toml").write_text("secret")
    found = toolchains(str(home / ".cargo/bin"), home=home, program=TRUE)
    assert set(found) == {home / ".cargo/bin", home / ".cargo/registry"}


def test_a_virtual_environment_brings_the_interpreter_it_was_made_from(tmp_path: Path, home: Path) -> None:
    base = home / ".local/share/uv/python/3.12"
    program(base / "bin/python3")
    folders(base, "lib")
    venv = tmp_path / "venv"
    folders(venv, "bin", "lib")
    (venv / "pyvenv.cfg").write_text(f"home = {base / 'bin'}\nversion = 3.12\n")
    pytest_script = program(venv / "bin/pytest")
    expected = {venv / "bin", venv / "lib", venv / "pyvenv.cfg", base / "bin", base / "lib"}
    assert set(toolchains("/usr/bin", home=home, program=pytest_script)) == expected

    (venv / "pyvenv.cfg").write_text("")
    link(venv / "bin/python3", base / "bin/python3")
    assert set(toolchains(str(venv / "bin"), home=home, program=TRUE)) == expected


def test_a_program_outside_a_bin_folder_is_readable_alone(home: Path) -> None:
    real = program(home / ".local/share/agent/versions/1.0/agent")
    shown = link(home / "tools/agent", real)
    assert toolchains("/usr/bin", home=home, program=shown) == (real,)


def test_links_that_a_guest_left_in_its_workspace_open_nothing_of_the_users(tmp_path: Path, home: Path) -> None:
    work = tmp_path / "work"
    link(work / ".venv/lib", home / ".ssh")
    link(work / ".venv/bin/python3", home / ".ssh/id_rsa")
    link(work / "links", home / ".ssh")
    (work / ".venv/pyvenv.cfg").write_text(f"home = {home}/.ssh\n")
    secret_tool = program(home / "secret/bin/deploy")
    shown = link(work / "run", secret_tool)
    path = f"{work}/.venv/bin:{work}/links"
    assert toolchains(path, home=home, program=shown, distrusted=(work,)) == ()


def test_a_virtual_environment_in_the_workspace_still_finds_its_interpreter(tmp_path: Path, home: Path) -> None:
    real = program(home / ".pyenv/versions/3.12/bin/python3.12")
    shown = link(tmp_path / "work/.venv/bin/python", real)
    found = toolchains("/usr/bin", home=home, program=shown, distrusted=(tmp_path / "work",))
    assert found == (real.parent,)


def test_a_command_reaches_the_system_its_folders_and_what_it_was_given(tmp_path: Path, home: Path) -> None:
    command = Command(
        argv=("true",),
        cwd=tmp_path / "work",
        scratch=tmp_path / "scratch",
        readable=(tmp_path / "given",),
        writable=(tmp_path / "out",),
    )
    found = reach(command, program=TRUE, path="/usr/bin:/bin", home=home, extra=(tmp_path / "all",))
    assert found.mounted == (*SYSTEM, tmp_path / "all", tmp_path / "given")
    assert found.writable == (command.cwd, command.scratch, tmp_path / "out", *DEVICES)


def test_where_name_servers_are_written_down_is_readable_with_an_open_network_alone(tmp_path: Path, home: Path) -> None:
    for network, shown in ((NO_NETWORK, False), (OWN_LOOPBACK, False), (OPEN_NETWORK, True)):
        command = Command(argv=("true",), cwd=tmp_path / "work", scratch=tmp_path / "scratch", network=network)
        found = reach(command, program=TRUE, path="/usr/bin", home=home)
        assert (Path("/run/systemd/resolve") in found.readable) is shown


def test_system_folders_are_opened_around_the_home_in_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opt = tmp_path / "opt"
    folders(opt, "app/home", "app/tool", "other")
    monkeypatch.setattr("milepost.sandbox.visible_paths.SYSTEM", (opt,))
    command = Command(argv=("true",), cwd=tmp_path / "work", scratch=tmp_path / "scratch")
    found = reach(command, program=tmp_path / "no", path="", home=opt / "app/home")
    assert found.readable == (opt / "app/tool", opt / "other")


def test_a_program_is_found_as_a_shell_finds_it(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    program(first / "tool").chmod(0o644)
    program(second / "tool")
    path = f"{first}:{second}"
    assert find_program("tool", path, tmp_path) == second / "tool"
    assert find_program("./second/tool", "", tmp_path) == tmp_path / "second/tool"
    assert find_program("tool", str(first), tmp_path) == Missing(f"'tool' is not executable: {first / 'tool'}")
    assert find_program("none", path, tmp_path) == Missing(f"'none' is not on PATH: {path}")
    assert find_program("./first", path, tmp_path) == Missing(f"'./first' is not a file: {first}")


def test_a_folder_is_granted_around_what_is_not_for_everybody(tmp_path: Path) -> None:
    for name in ("open/deep/file", "mixed/shown", "mixed/secret", "top", "shadow", "locked/file"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch(mode=0o644)
    for name in ("mixed/secret", "shadow"):
        (tmp_path / name).chmod(0o640)
    (tmp_path / "locked").chmod(0o710)
    link(tmp_path / "link", tmp_path / "shadow")
    assert for_all(str(tmp_path), levels=9) == [str(tmp_path / name) for name in ("mixed/shown", "open", "top")]
    assert for_all(str(tmp_path / "open"), levels=9) == [str(tmp_path / "open")]
    assert for_all(str(tmp_path), levels=1) == [str(tmp_path / name) for name in ("mixed", "open", "top")]


def test_without_other_processes_proc_is_the_guests_own_and_what_is_of_the_machine(tmp_path: Path) -> None:
    whole = Reach(readable=(Path("/usr"), Path("/proc"), tmp_path), folders=())
    assert whole.without_other_processes().readable == (Path("/usr"), *OWN_PROC, tmp_path)


def test_a_working_directory_must_not_lead_out_of_the_folder_it_is_in(tmp_path: Path) -> None:
    folders(tmp_path, "real/task/sub", "real/outside", "real/shared")
    home = link(tmp_path / "home", tmp_path / "real")
    work, shared = home / "task", home / "shared"
    for name, target in {
        "in": "sub",
        "out": "../outside",
        "shared": "../shared",
        "nested/out": "../../outside",
    }.items():
        link(work / name, Path(target))

    def leads_out(cwd: Path) -> bool:
        return led_out_of(Command(argv=(), cwd=cwd, scratch=home / "scratch", writable=(work, shared))) == work

    assert not any(map(leads_out, (work, work / "sub", work / "in", work / "shared", home / "outside")))
    assert all(map(leads_out, (work / "out", work / "nested/out", work / ".." / "outside", tmp_path / "real/task/out")))


def test_a_working_directory_in_a_writable_folder_is_granted_with_it_alone(tmp_path: Path) -> None:
    def granted(cwd: Path) -> tuple[Path, ...]:
        command = Command(argv=(), cwd=cwd, scratch=tmp_path / "scratch", writable=(tmp_path / "work",))
        return reach(command, program=TRUE, path="/usr/bin", home=tmp_path / "home").folders

    assert granted(tmp_path / "work/sub") == (tmp_path / "scratch", tmp_path / "work")
    assert granted(tmp_path / "other") == (tmp_path / "other", tmp_path / "scratch", tmp_path / "work")
