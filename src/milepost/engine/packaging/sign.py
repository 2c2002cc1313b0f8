"""The signature of a package: over its provenance, which names its digest, with the user's own key and program."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from milepost.core.errors import PackageFailed, SettingInvalid
from milepost.engine.project.settings.package import PackageSettings

NAMESPACE = "milepost-package"
_LONGEST_S = 120.0


def sign_command(program: str, key: str, file: Path) -> tuple[str, ...]:
    """The command that signs a file, to `.sig` beside it."""
    if program == "cosign":
        quiet = ("--yes", "--tlog-upload=false", "--key", key, "--output-signature", f"{file}.sig")
        return ("cosign", "sign-blob", *quiet, str(file))
    return ("ssh-keygen", "-Y", "sign", "-f", key, "-n", NAMESPACE, str(file))


def sign(file: Path, settings: PackageSettings, say: Callable[[str], None]) -> str:
    """Sign a file if the settings want it; with what, empty where nothing is signed."""
    if not settings.sign:
        return ""
    if not settings.key:
        raise SettingInvalid("package.sign needs a key", "name it: key in [package], such as ~/.ssh/id_ed25519")
    say(f"signing it with {settings.sign}")
    argv = sign_command(settings.sign, str(Path(settings.key).expanduser()), file)
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LONGEST_S,
            check=False,
        )
    except FileNotFoundError:
        raise PackageFailed(f"{argv[0]} is not on PATH", "install it, or leave out sign in [package]") from None
    except subprocess.TimeoutExpired:
        raise PackageFailed(f"{argv[0]} did not end in {_LONGEST_S:g} s", "unlock the key first: ssh-add") from None
    if done.returncode != 0 or not Path(f"{file}.sig").is_file():
        said = (done.stderr or done.stdout).strip().splitlines()
        raise PackageFailed(
            f"the package cannot be signed: {said[-1] if said else f'{argv[0]} exit {done.returncode}'}",
            "check key in [package]; a key with a passphrase must be in your agent: ssh-add",
        )
    os.chmod(f"{file}.sig", 0o644)  # noqa: PTH101 (a name, not yet a path)
    return settings.sign
