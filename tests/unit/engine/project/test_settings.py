from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.commands import TrustLevel
from milepost.core.errors import SettingInvalid
from milepost.engine.project.consent import YES
from milepost.engine.project.settings.load import load
from milepost.engine.project.settings.settings import Settings


def settings(
    folder: Path, text: str = "", flags: dict[str, object] | None = None, environ: dict[str, str] | None = None
) -> Settings:
    if text:
        (folder / "milepost.toml").write_text(text)
    return load(folder, flags, {YES: "1", **(environ or {})})


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert settings(tmp_path) == Settings()


def test_a_flag_beats_the_environment_beats_the_file_beats_the_default(tmp_path: Path) -> None:
    text = '[run]\nagent = "file"\nparallel = 3\n'
    environ = {"MILEPOST_AGENT": "environment", "MILEPOST_PARALLEL": "4", "MILEPOST_TRUST": ""}
    assert settings(tmp_path, text).run.agent == "file"
    assert settings(tmp_path, text, environ=environ).run.agent == "environment"
    both = settings(tmp_path, text, {"agent": "flag", "parallel": None}, environ).run
    assert (both.agent, both.parallel, both.trust) == ("flag", 4, None)


def test_the_network_of_the_sandbox_is_given_like_the_settings_of_a_run(tmp_path: Path) -> None:
    text = '[sandbox]\nreadable = ["/opt/x"]\nnetwork = ["example.org"]\n'
    environ = {"MILEPOST_NETWORK": "open"}
    assert settings(tmp_path, text).sandbox.network == ["example.org"]
    assert settings(tmp_path, text, environ=environ).sandbox.network == "open"
    both = settings(tmp_path, text, {"network": "a.org,b.org:81"}, environ).sandbox
    assert (both.network, both.readable) == (["a.org", "b.org:81"], ["/opt/x"])


def test_secrets_for_commands_are_named_with_the_programs_that_may_have_them(tmp_path: Path) -> None:
    found = settings(tmp_path, '[sandbox.secrets.GH_TOKEN]\nprograms = ["gh"]\n[sandbox.secrets.OTHER]\n').sandbox
    assert {name: section.programs for name, section in found.secrets.items()} == {"GH_TOKEN": ["gh"], "OTHER": []}


def test_every_section_is_read(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        '[run]\ntrust = "isolated"\n[limits]\nattempts = 1\ncheck_timeout_s = 0.5\n'
        '[agents.command]\nenv = { A = "b" }\nenv_from = ["C"]\nargs = ["-x"]\n'
        '[verify]\npython = "python3.9"\n[sandbox]\nreadable = ["/opt/x"]\n',
    )
    assert found.run.trust is TrustLevel.ISOLATED
    assert (found.limits.attempts, found.limits.check_timeout_s) == (1, 0.5)
    command = found.agents["command"]
    assert (command.env, command.env_from, command.args) == ({"A": "b"}, ["C"], ["-x"])
    assert (found.verify.python, found.sandbox.readable) == ("python3.9", ["/opt/x"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[run]\nparallel = 0\n", "run.parallel"),
        ("[run]\nparallel = 65\n", "run.parallel"),
        ("[limits]\nattempts = 0\n", "limits.attempts"),
        ("[limits]\ntask_timeout_s = 0\n", "limits.task_timeout_s"),
        ('[run]\ntrust = "none"\n', "run.trust"),
        ('[sandbox]\nnetwork = ["http://a.org"]\n', "'http://a.org' is not a host that can be allowed"),
        ("[sandbox]\nmemory_mb = 1\n", "sandbox.memory_mb"),
        ("sandbox = 1\n", "sandbox in milepost.toml must be a table"),
        ('[agents.command]\nnetwork = "a b"\n', "'a b' is not a host that can be allowed"),
        ("[run]\nunknown = 1\n", "run.unknown is not a setting of this version"),
        ("unknown = 1\n", "unknown is not a setting of this version"),
        ("run = 1\n", "run"),
        ("[run\n", "not valid TOML"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(SettingInvalid) as raised:
        settings(tmp_path, text)
    assert told in raised.value.message and raised.value.advice


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("trust", "hard", "trust must be 'local', 'isolated' or 'sandboxed': 'hard'"),
        ("network", ["a b"], "network cannot be used: 'a b' is not a host that can be allowed"),
        ("budget_usd", 0, "budget_usd must be greater than"),
    ],
)
def test_a_value_that_was_given_by_hand_is_not_looked_for_in_the_file(
    tmp_path: Path, key: str, value: object, said: str
) -> None:
    with pytest.raises(SettingInvalid) as raised:
        load(tmp_path, {key: value}, environ={})

    assert str(raised.value).startswith(said)
    assert "milepost.toml" not in raised.value.advice
    assert f"--{key.removesuffix('_usd')}" in raised.value.advice


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("[rn]\nagent = 'x'\n", "run"),
        ("[run]\nagnet = 'x'\n", "run.agent"),
        ("[sandbox]\nnetwrk = 'none'", "sandbox.network"),
    ],
)
def test_a_misspelt_setting_is_told_with_the_name_that_was_meant(tmp_path: Path, text: str, meant: str) -> None:
    (tmp_path / "milepost.toml").write_text(text)

    with pytest.raises(SettingInvalid) as raised:
        load(tmp_path, environ={})

    assert raised.value.advice == f"did you mean {meant}?"


def test_a_bad_value_of_an_agents_section_is_not_shown_because_it_may_be_a_key(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid) as raised:
        settings(tmp_path, '[agents.command]\nenv = ["sk-hidden"]\n')
    assert "agents.command.env" in raised.value.message and "sk-hidden" not in str(raised.value)
    for line in ('env = "TOKEN=sk-hidden"', 'command = "x --token sk-hidden"', 'bearer_from = ["sk-hidden"]'):
        with pytest.raises(SettingInvalid) as raised:
            settings(tmp_path, f"[mcp.notes]\n{line}\n")
        assert "mcp.notes" in raised.value.message and "sk-hidden" not in str(raised.value)


@pytest.mark.parametrize("make", [lambda path: path.write_bytes(b"\xff\xfe"), lambda path: path.mkdir()])
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, make: object) -> None:
    assert callable(make)
    make(tmp_path / "milepost.toml")
    with pytest.raises(SettingInvalid, match="cannot be read"):
        settings(tmp_path)


def test_checks_do_not_find_our_own_environment_on_the_path() -> None:
    import os
    import sys

    from milepost.engine.terminals.interpreter import outside_environment

    ours = f"{sys.prefix}/bin"
    path = os.pathsep.join([ours, "/usr/bin", "/bin"])
    in_venv = sys.prefix != sys.base_prefix
    assert outside_environment({"PATH": path}, Path("/nowhere"))["PATH"] == ("/usr/bin:/bin" if in_venv else path)
    assert outside_environment({"PATH": path, "VIRTUAL_ENV": sys.prefix}, Path("/nowhere"))["PATH"] == path
