from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from milepost.core.commands import OPEN_NETWORK, OWN_LOOPBACK, Command, CommandResult, Line, Network
from milepost.core.errors import SettingInvalid
from milepost.engine.project.network_setting import as_text, network_named
from milepost.engine.project.settings.settings import Settings
from milepost.engine.terminals.limits import for_agent, for_checks, for_installers, memory_of_machine_mb
from milepost.engine.terminals.wrappers import DOWNGRADED, DowngradedTerminal, LimitedTerminal


def settings(**sections: object) -> Settings:
    return Settings.model_validate(sections)


def test_agents_and_checks_have_a_loopback_of_their_own_and_installers_the_network() -> None:
    default = settings()
    assert for_checks(default).network == OWN_LOOPBACK
    assert for_agent(default, "command:aider").network == OWN_LOOPBACK
    assert for_installers(default).network == OPEN_NETWORK


def test_an_agents_own_section_goes_over_what_holds_for_all() -> None:
    given = settings(
        sandbox={"network": ["example.org"], "install_network": "none"},
        agents={"command": {"network": ["api.example.org:8443"]}, "tool": {}, "replay": {"network": "open"}},
    )
    assert for_agent(given, "command:aider --yes").network == Network(mode="hosts", hosts=("api.example.org:8443",))
    assert for_agent(given, "tool").network == Network(mode="hosts", hosts=("example.org",))
    assert for_agent(given, "replay:x.json").network == OPEN_NETWORK
    assert for_checks(given).network == Network(mode="hosts", hosts=("example.org",))
    assert for_installers(given).network == Network(mode="none")


def test_bounds_are_those_of_the_settings_and_memory_is_three_quarters_of_the_machines_by_default() -> None:
    bounds = for_checks(settings(sandbox={"memory_mb": 512, "processes": 10, "disk_mb": 7})).bounds
    assert (bounds.memory_mb, bounds.processes, bounds.disk_mb) == (512, 10, 7)
    default = for_checks(settings()).bounds
    assert default.memory_mb == memory_of_machine_mb() * 3 // 4 > 0
    assert (default.processes, default.disk_mb) == (4096, 20_000)


@pytest.mark.parametrize(
    ("text", "network"),
    [
        ("none", Network()),
        ("loopback", OWN_LOOPBACK),
        ("open", OPEN_NETWORK),
        ("example.org", Network(mode="hosts", hosts=("example.org",))),
        ("a.org, 127.0.0.1:5432", Network(mode="hosts", hosts=("a.org", "127.0.0.1:5432"))),
    ],
)
def test_a_flag_names_a_network_or_its_hosts(text: str, network: Network) -> None:
    assert network_named(text) == network


def test_a_flag_that_names_no_host_is_refused_and_a_list_reads_as_the_flag_that_gives_it() -> None:
    with pytest.raises(SettingInvalid, match=r"'https://a\.org' is not a host that can be allowed"):
        network_named("https://a.org")
    assert as_text(["a.org", "b.org:1"]) == "a.org,b.org:1"
    assert as_text("open") == "open"


class Noting:
    """A terminal that runs nothing and keeps what it was asked to run."""

    def __init__(self) -> None:
        self.commands: list[Command] = []

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        self.commands.append(command)
        return CommandResult(
            termination="exited", exit_code=0, stdout="", stderr="", duration_ms=1, enforced=("landlock-7",)
        )


def test_every_command_gets_the_allowance_and_a_downgrade_is_told_with_what_holds(tmp_path: Path) -> None:
    noting, given = Noting(), settings(sandbox={"network": "none", "memory_mb": 100})
    terminal = LimitedTerminal(terminal=DowngradedTerminal(terminal=noting), allowance=for_checks(given))
    result = terminal.run(Command(argv=("true",), cwd=tmp_path, scratch=tmp_path, network=OPEN_NETWORK))
    assert result.enforced == (DOWNGRADED, "landlock-7") == ("downgraded-from-sandboxed", "landlock-7")
    [command] = noting.commands
    assert (command.network, command.bounds.memory_mb) == (Network(), 100)
