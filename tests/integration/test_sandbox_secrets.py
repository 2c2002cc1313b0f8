"""Secrets of the host: out of reach of every command, but for those that the broker gives it, which nobody sees."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from milepost.core.commands import Command, CommandResult, Line, TrustLevel
from milepost.core.secrets.redact import MASK, Redactor
from milepost.engine.terminals.wrappers import RedactingTerminal
from milepost.sandbox.levels import ladder
from milepost.sandbox.secrets import Secret, SecretTerminal
from milepost.sandbox.terminal import WalledTerminal

MARK = "planted-7c1f0e9d"
NAMES = (
    *("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "GOOGLE_APPLICATION_CREDENTIALS"),
    *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "NPM_TOKEN", "PYPI_TOKEN"),
    *("DATABASE_URL", "PGPASSWORD", "REDIS_URL", "STRIPE_SECRET_KEY", "SLACK_BOT_TOKEN", "SENTRY_AUTH_TOKEN"),
    *("DOCKER_AUTH_CONFIG", "KUBECONFIG", "VAULT_TOKEN", "HF_TOKEN", "TWILIO_AUTH_TOKEN", "SENDGRID_API_KEY"),
    *("CARGO_REGISTRY_TOKEN", "TWINE_PASSWORD", "SSH_AUTH_SOCK", "GPG_PASSPHRASE", "COOKIE", "SESSION", "PLAIN_NAME"),
)
FILES = (".ssh/id_rsa", ".netrc", ".aws/credentials", ".config/gh/hosts.yml", ".git-credentials", ".bash_history")
# Looks in every place that a process can look in, and prints the kinds of places where it found the mark.
LOOK = """
import glob, json, os, sys
mark, home = sys.argv[1].replace("_", "").encode(), sys.argv[2]
found = {}
def look(kind, *patterns):
    for pattern in patterns:
        for place in glob.glob(pattern):
            try:
                with open(place, "rb") as file:
                    if mark in file.read(1_000_000):
                        found.setdefault(kind, place)
            except OSError:
                pass
if any(mark.decode() in value for value in os.environ.values()):
    found["variables"] = "own"
look("variables", "/proc/[0-9]*/environ", "/proc/[0-9]*/task/*/environ")
look("argv", "/proc/[0-9]*/cmdline")
look("files", home + "/*", home + "/.*", home + "/.*/*", home + "/.*/*/*")
look("files by /proc", *(f"/proc/[0-9]*/{way}{home}/.netrc" for way in ("root", "cwd/../../../../../../..")))
print(json.dumps(found))
"""


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with secret files, while every variable and a process of the host hold secrets, too."""
    home = tmp_path / "home"
    for name in FILES:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(f"secret {MARK}\n")
    for name in NAMES:
        monkeypatch.setenv(name, f"{MARK}-{name}")
    with subprocess.Popen(["sh", "-c", "echo up; read line", "sh", MARK], stdin=-1, stdout=-1) as host_process:
        assert host_process.stdout is not None and host_process.stdin is not None
        assert host_process.stdout.readline() == b"up\n"
        yield home
        host_process.stdin.close()


def look(home: Path) -> tuple[str, ...]:
    spelled = "_".join(MARK)  # so that the looker does not find its own words
    return (sys.executable, "-I", "-c", LOOK, spelled, str(home))


def require(trust: TrustLevel) -> None:
    report = next(report for report in ladder() if report.level is trust)
    if not report.ok:
        pytest.skip(f"this machine refuses the level: {report.detail}")


@pytest.mark.parametrize("trust", [TrustLevel.ISOLATED, TrustLevel.SANDBOXED])
def test_planted_secrets_are_out_of_reach(trust: TrustLevel, planted: Path, tmp_path: Path) -> None:
    """Without namespaces the argv of the host's processes can be read by anybody; that is no place for a secret."""
    require(trust)
    unheld = subprocess.run(look(planted), capture_output=True, text=True, check=True)
    assert {"variables", "argv", "files", "files by /proc"} <= json.loads(unheld.stdout).keys()
    work = tmp_path / "work"
    work.mkdir()
    with WalledTerminal(home=planted, trust=trust) as terminal:
        held = terminal.run(Command(argv=look(planted), cwd=work, scratch=tmp_path / "scratch"))
    assert held.succeeded, held
    assert json.loads(held.stdout).keys() <= ({"argv"} if trust is TrustLevel.ISOLATED else set())


VALUE = "tok-5Zq/8w+1&x"
ECHO = "import os, sys; print(sys.argv[1:], os.environ.get('TOKEN'), os.environ.get('OTHER'))"
PYTHON = Path(sys.executable).name


@pytest.fixture
def terminal() -> Iterator[WalledTerminal]:
    with WalledTerminal() as opened:
        yield opened


@pytest.fixture
def command(tmp_path: Path) -> Command:
    (tmp_path / "work").mkdir()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return Command(argv=(), cwd=tmp_path / "work", scratch=tmp_path / "scratch", env={"PATH": path})


def given(
    terminal: WalledTerminal, command: Command, *argv: str, programs: tuple[str, ...] = (PYTHON,), **env: str
) -> CommandResult:
    broker = SecretTerminal(terminal, [Secret(name="TOKEN", value=VALUE, programs=frozenset(programs))])
    made = Command(argv=argv, cwd=command.cwd, scratch=command.scratch, env={**command.env, **env})
    return broker.run(made)


def test_a_placeholder_becomes_the_value_for_a_program_that_may_have_it(
    terminal: WalledTerminal, command: Command
) -> None:
    argv = (PYTHON, "-c", ECHO, "--token={{secret:TOKEN}}", "{{secret:TOKEN}}")
    assert given(terminal, command, *argv).stdout == f"['--token={VALUE}', '{VALUE}'] None None\n"
    by_variable = given(terminal, command, PYTHON, "-c", ECHO, OTHER="x{{secret:TOKEN}}")
    assert by_variable.stdout == f"[] None x{VALUE}\n"
    by_env = given(terminal, command, "env", "TOKEN={{secret:TOKEN}}", PYTHON, "-c", ECHO)
    assert by_env.stdout == f"[] {VALUE} None\n"


def test_a_command_without_a_placeholder_gets_nothing(terminal: WalledTerminal, command: Command) -> None:
    assert given(terminal, command, PYTHON, "-c", ECHO, "{secret:TOKEN}").stdout == "['{secret:TOKEN}'] None None\n"


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (("sh", "-c", "echo {{secret:TOKEN}}"), "commands of 'sh' may not use the secret 'TOKEN'"),
        ((PYTHON, "{{secret:OTHER}}"), "no secret 'OTHER' is available to commands"),
        (("env", "LD_PRELOAD=./evil.so", "T={{secret:TOKEN}}", PYTHON), "commands of 'env' may not use"),
        (("env", "A=./evil.so:{{secret:TOKEN}}", PYTHON), "commands of 'env' may not use"),
        (("env", "-S", "T={{secret:TOKEN}}", PYTHON), "commands of 'env' may not use"),
        ((f"./{PYTHON}", "{{secret:TOKEN}}"), f"commands of './{PYTHON}' may not use"),
        (("missing-program", "{{secret:TOKEN}}"), "'missing-program' is not on PATH"),
    ],
)
def test_whoever_may_not_have_a_secret_is_not_started(
    terminal: WalledTerminal, command: Command, argv: tuple[str, ...], told: str
) -> None:
    result = given(terminal, command, *argv, programs=(PYTHON, "missing-program"))
    assert (result.termination, told in result.error) == ("not_started", True), result


def test_a_program_that_the_guest_put_before_the_real_one_gets_nothing(
    terminal: WalledTerminal, command: Command
) -> None:
    forged = command.cwd / "bin" / PYTHON
    forged.parent.mkdir()
    forged.write_text("#!/bin/sh\necho stolen $1\n")
    forged.chmod(0o755)
    path = f"{forged.parent}{os.pathsep}{command.env['PATH']}"
    assert given(terminal, command, PYTHON, "plain", PATH=path).stdout == "stolen plain\n"
    refused = given(terminal, command, PYTHON, "{{secret:TOKEN}}", PATH=path)
    assert (refused.termination, "is in a folder that commands write to" in refused.error) == ("not_started", True)


def test_settings_that_an_earlier_command_left_in_its_home_are_not_those_of_one_with_a_secret(
    terminal: WalledTerminal, command: Command
) -> None:
    leave = ("sh", "-c", 'echo tell >"$HOME/.settings"; echo tell >"$XDG_CONFIG_HOME.settings"; echo tell >"$TMPDIR/x"')
    assert given(terminal, command, *leave).succeeded
    look = "import os; home = os.environ['HOME']; print(home, os.listdir(home), os.listdir(os.environ['TMPDIR']))"
    without = given(terminal, command, PYTHON, "-I", "-c", look)
    assert all(name in without.stdout for name in ("'.settings'", "'.config.settings'", "'x'"))
    home, _, seen = given(terminal, command, PYTHON, "-I", "-c", look, "{{secret:TOKEN}}").stdout.partition(" ")
    assert seen == "[] []\n"
    assert not Path(home).parent.exists()


def test_what_was_given_is_seen_by_nobody_however_the_command_prints_it(
    terminal: WalledTerminal, command: Command
) -> None:
    """Plain, split by the buffer, percent-encoded and as base64 within more of it."""
    printing = (
        "import base64, sys, urllib.parse\n"
        "value = sys.argv[1]\n"
        "print('plain', value, flush=True)\n"
        "print('x' * 16380 + value, flush=True)\n"
        "print('address', urllib.parse.quote(value, safe=''))\n"
        "print('base64', base64.b64encode(b'user:' + value.encode()).decode(), file=sys.stderr)\n"
    )
    broker = SecretTerminal(terminal, [Secret(name="TOKEN", value=VALUE, programs=frozenset({PYTHON}))])
    discreet = RedactingTerminal(broker, Redactor({VALUE}))
    lines: list[Line] = []
    made = Command(
        argv=(PYTHON, "-c", printing, "{{secret:TOKEN}}"), cwd=command.cwd, scratch=command.scratch, env=command.env
    )
    result = discreet.run(made, lines.append)
    assert result.succeeded, result
    streamed = "".join(line.text for line in lines)
    for text in (result.stdout + result.stderr, streamed):
        assert text.count(MASK) >= 4
        inner = base64.b64encode(f"user:{VALUE}".encode()).decode()[8:20]
        assert not any(part in text for part in (VALUE, VALUE[4:], "tok-5Zq%2F", inner))
    assert VALUE not in repr(Secret(name="TOKEN", value=VALUE))
