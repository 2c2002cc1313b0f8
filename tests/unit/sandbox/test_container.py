"""What is said to podman and docker, and what their words mean."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.commands import OPEN_NETWORK, Bounds, Command, ExecutionLimits, Network
from milepost.core.errors import SandboxRefused
from milepost.sandbox.container import commands, engines, open_container
from milepost.sandbox.container.commands import Berth, Container
from milepost.sandbox.launch import Launch, Surroundings
from milepost.sandbox.visible_paths import Missing, Reach

PODMAN = Container(program="podman", image="python:3.12")
BERTH = Berth(name="milepost-1-2-3", user=1000, group=100, variables=Path("/tmp/x/variables"))


def launch(**more: object) -> Launch:
    plain = Launch(
        program=Path("make"),
        argv=("make", "test"),
        env={"HOME": "/scratch/home"},
        cwd=Path("/work"),
        reach=Reach(readable=(Path("/tools"),), folders=(Path("/work"), Path("/scratch"))),
        timeout_s=60,
        bounds=Bounds(processes=64),
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def test_a_command_becomes_a_container_without_network_privileges_or_a_root_to_write_to() -> None:
    assert commands.run(PODMAN, launch(), BERTH) == [
        *("podman", "--log-level", "error", "run", "--interactive", "--name", "milepost-1-2-3", "--label", "milepost"),
        *("--pull", "never", "--log-driver", "none", "--stop-timeout", "0", "--read-only", "--cap-drop", "ALL"),
        *("--security-opt", "no-new-privileges", "--security-opt", "label=disable"),
        *("--user", "1000:100", "--network", "none", "--pids-limit", "64", "--ulimit", "core=0:0"),
        *("--tmpfs", "/tmp:rw,mode=1777,size=1024m"),
        *("--mount", "type=bind,source=/tools,destination=/tools,readonly"),
        *("--mount", "type=bind,source=/work,destination=/work"),
        *("--mount", "type=bind,source=/scratch,destination=/scratch"),
        *("--env-file", "/tmp/x/variables", "--workdir", "/work", "--entrypoint", "make"),
        *("python:3.12", "test"),
    ]


def test_every_bound_that_a_container_can_hold_is_asked_for() -> None:
    bounds = Bounds(memory_mb=256, processes=64, cpu_s=1.5, file_mb=2, open_files=100, disk_mb=50, inodes=1000)
    argv = commands.run(PODMAN, launch(bounds=bounds), BERTH)
    start = argv.index("--memory")
    assert argv[start : argv.index("--mount")] == [
        *("--memory", "256m", "--memory-swap", "256m", "--pids-limit", "64"),
        *("--ulimit", "core=0:0", "--ulimit", "cpu=2:2", "--ulimit", "fsize=2097152:2097152"),
        *("--ulimit", "nofile=100:100", "--tmpfs", "/tmp:rw,mode=1777,size=50m"),
    ]


def test_an_open_network_is_the_hosts() -> None:
    argv = commands.run(PODMAN, launch(network=OPEN_NETWORK), BERTH)
    assert argv[argv.index("--network") + 1] == "host"


def test_a_user_without_privileges_keeps_its_id_in_podman() -> None:
    argv = commands.run(replace(PODMAN, keeps_id=True), launch(), BERTH)
    assert argv[argv.index("--userns") + 1] == "keep-id"


def test_a_path_with_a_comma_or_a_quote_stays_one_path() -> None:
    argv = commands.run(PODMAN, launch(reach=Reach(readable=(), folders=(Path('/a,"b'),))), BERTH)
    assert argv[argv.index("--mount") + 1] == 'type=bind,"source=/a,""b","destination=/a,""b"'


def test_variables_go_through_a_file_one_a_line() -> None:
    assert commands.variables({"A": "x y", "B": "#="}) == "A=x y\nB=#=\n"
    with pytest.raises(ValueError, match="more than one line"):
        commands.variables({"A": "x\nPATH=/evil"})


@pytest.mark.parametrize(
    ("facts", "unbounded"),
    [
        ({"host": {"cgroupVersion": "v2", "cgroupControllers": ["cpu", "memory", "pids"]}}, []),
        ({"host": {"cgroupVersion": "v2", "cgroupControllers": ["pids"]}}, ["memory"]),
        ({"host": {"cgroupVersion": "v2", "cgroupControllers": None}}, ["memory", "processes"]),
        ({"host": {"cgroupVersion": "v1", "cgroupControllers": ["memory", "pids"]}}, ["memory", "processes"]),
        ({"MemoryLimit": True, "PidsLimit": True}, []),
        ({"MemoryLimit": True, "PidsLimit": False}, ["processes"]),
    ],
)
def test_what_cannot_be_bounded_is_read_from_what_the_program_tells(
    facts: dict[str, object], unbounded: list[str]
) -> None:
    assert engines.unbounded(facts) == unbounded


def test_a_container_belongs_to_a_living_host_while_the_very_process_that_named_it_runs() -> None:
    assert engines.is_of_a_living_host(f"{engines.host_mark()}1")
    assert engines.is_of_a_living_host("somebody-elses")
    assert not engines.is_of_a_living_host(f"milepost-{os.getpid()}-1-1")
    assert not engines.is_of_a_living_host("milepost-4194305-1-1")


def test_an_image_is_never_fetched_without_being_asked_for() -> None:
    assert "never" in commands.trial(PODMAN, "x")


def test_a_program_that_is_not_installed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SandboxRefused, match="podman is not installed"):
        engines.require(PODMAN)


def test_a_working_directory_that_leads_out_is_refused_in_a_container_too(tmp_path: Path) -> None:
    (tmp_path / "work/in").mkdir(parents=True)
    (tmp_path / "work/out").symlink_to("..")
    around, work = Surroundings(home=tmp_path), tmp_path / "work"
    for name, started in {"in": Launch, "out": Missing}.items():
        command = Command(argv=("true",), cwd=work / name, scratch=tmp_path / "scratch", writable=(work,))
        assert isinstance(open_container.launch_in_image(command, around), started)


def test_what_a_container_cannot_hold_is_refused(tmp_path: Path) -> None:
    hosts = Network(mode="hosts", hosts=("example.org",))
    command = Command(argv=("true",), cwd=tmp_path, scratch=tmp_path / "scratch", network=hosts)
    assert isinstance(open_container.launch_in_image(command, Surroundings(home=tmp_path)), Missing)
    with pytest.raises(SandboxRefused, match="processor time"):
        open_container.open_executor(PODMAN, ExecutionLimits(cpu_s=1))
    with pytest.raises(SandboxRefused, match="limit the disk"):
        open_container.open_executor(PODMAN, ExecutionLimits(disk_mb=1))
    with pytest.raises(SandboxRefused, match="single hosts"):
        open_container.open_executor(PODMAN, network=hosts)
