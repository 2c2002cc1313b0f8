"""Installers run where they can write only to the entry they fill, with the user's own settings of where packages are.

Installers may run code of packages, so nothing else is open to them; and each gets its own settings alone.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.commands import Command, CommandResult, ending_in_words
from milepost.core.ports import Terminal
from milepost.verify.environments.package_cache import Failed

_OF_THE_NETWORK = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
)
_OF_PIP = tuple(
    f"PIP_{name}"
    for name in (
        *("INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX", "TRUSTED_HOST", "CERT", "CLIENT_CERT", "PROXY"),
        *("CONFIG_FILE", "CONSTRAINT", "ONLY_BINARY", "NO_BINARY", "PREFER_BINARY", "PRE", "DEFAULT_TIMEOUT"),
        *("TIMEOUT", "RETRIES"),
    )
)
_OF_UV = tuple(
    f"UV_{name}"
    for name in (
        *("INDEX_URL", "DEFAULT_INDEX", "INDEX", "EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX", "OFFLINE"),
        *("INSECURE_HOST", "NATIVE_TLS", "HTTP_TIMEOUT", "CONFIG_FILE"),
    )
)
_OF_NPM = tuple(
    spelled
    for name in ("REGISTRY", "CAFILE", "CA", "STRICT_SSL", "PROXY", "HTTPS_PROXY", "NOPROXY", "OFFLINE")
    for spelled in (f"NPM_CONFIG_{name}", f"npm_config_{name.lower()}")
)
_OF_YARN = ("YARN_NPM_REGISTRY_SERVER", "YARN_HTTP_PROXY", "YARN_HTTPS_PROXY", "YARN_HTTPS_CA_FILE_PATH")
_OF_CARGO = ("CARGO_HTTP_PROXY", "CARGO_HTTP_CAINFO", "CARGO_NET_OFFLINE", "CARGO_NET_RETRY")
_OF_GO = ("GOPROXY", "GOPRIVATE", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOINSECURE")

_PYTHON_IN_HOME = (".config/pip", ".pip")
_NODE_IN_HOME = (".npmrc",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lent:
    """What one installer gets of the user's: variables by name, and settings in their home folder."""

    variables: tuple[str, ...] = ()
    in_home: tuple[str, ...] = ()


# What else is in a home folder stays closed, and what belongs to another installer.
LENT: Mapping[str, Lent] = {
    "pip": Lent(variables=_OF_PIP, in_home=_PYTHON_IN_HOME),
    "uv": Lent(variables=_OF_UV, in_home=(".config/uv",)),
    "poetry": Lent(in_home=(".config/pypoetry",)),
    "npm": Lent(variables=_OF_NPM, in_home=_NODE_IN_HOME),
    "pnpm": Lent(variables=_OF_NPM, in_home=_NODE_IN_HOME),
    "yarn": Lent(variables=(*_OF_YARN, *_OF_NPM), in_home=(".yarnrc", ".yarnrc.yml", *_NODE_IN_HOME)),
    "cargo": Lent(variables=_OF_CARGO),
    "go": Lent(variables=_OF_GO),
}

_PATH_IN_TEXT = re.compile(r"(?:(?<=file://)|(?<![\w/:.]))/[^\s,;\"']+")
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
_LONGEST_PROBLEM = 2_000
_SAID_LINES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Installer:
    """Runs the commands of installations. `path` is where programs are looked up."""

    terminal: Terminal
    environ: Mapping[str, str]
    home: Path
    path: str
    timeout_s: float = 1200.0

    def run(
        self,
        argv: tuple[str, ...],
        entry: Path,
        *,
        tool: str = "",
        env: Mapping[str, str] | None = None,
        readable: tuple[Path, ...] = (),
        stdin: str = "",
        cwd: Path | None = None,
    ) -> CommandResult:
        """Run a command that may write to `entry` and nowhere else, in it or in a folder `cwd` below it.

        With the settings of the installer that `tool` names, and of no other. Without one it has none, and no network:
        so runs whatever may run code of packages.
        Its scratch is new each time and gone afterwards: what an installer leaves there, links above all, meets nobody.
        """
        scratch = entry / f".scratch-{secrets.token_hex(8)}"
        lent = LENT[tool] if tool else Lent()
        self._lend_settings(scratch / "home", lent)
        named = (*_OF_THE_NETWORK, *lent.variables) if tool else ()
        passed = {name: self.environ[name] for name in named if self.environ.get(name)}
        command = Command(
            argv=argv,
            cwd=cwd or entry,
            scratch=scratch,
            env={"PATH": self.path, **passed, **(env or {})},
            stdin=stdin,
            timeout_s=self.timeout_s,
            readable=(*self._named_places(passed, lent), *readable),
            writable=(entry,),
            offline=not tool,
        )
        try:
            result = self.terminal.run(command)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        return replace(result, stdout=_discreet(result.stdout), stderr=_discreet(result.stderr))

    def choices(self) -> str:
        """What decides where packages come from, as one text: part of what an entry is known by."""
        passed = [f"{name}={self.environ[name]}" for name in (*_OF_PIP, *_OF_UV, *_OF_NPM) if self.environ.get(name)]
        every = Lent(in_home=tuple(dict.fromkeys(name for one in LENT.values() for name in one.in_home)))
        return "\n".join((*passed, *(text for _, text in self._settings(every))))

    def _settings(self, lent: Lent) -> Iterator[tuple[Path, str]]:
        for name in lent.in_home:
            place = self.home / name
            for file in (place,) if place.is_file() else sorted(place.glob("*")) if place.is_dir() else ():
                try:
                    yield file, file.read_text(encoding="utf-8", errors="replace")
                except OSError:
                    continue

    def _lend_settings(self, home: Path, lent: Lent) -> None:
        for name in lent.in_home:
            link = home / name
            if (self.home / name).exists() and not link.is_symlink():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(self.home / name)

    def _named_places(self, passed: Mapping[str, str], lent: Lent) -> tuple[Path, ...]:
        """The user's settings themselves, and the local files and folders that they name: certificates, wheels."""
        texts = [*passed.values(), *(text for _, text in self._settings(lent))]
        named = [Path(found) for text in texts for found in _PATH_IN_TEXT.findall(text)]
        users = os.path.realpath(self.home)
        files = [path for path in named if path.exists() and not Path(users).is_relative_to(os.path.realpath(path))]
        own = [self.home / name for name in lent.in_home if (self.home / name).exists()]
        return tuple(dict.fromkeys((*own, *(Path(os.path.realpath(path)) for path in own), *files)))


def failed(result: CommandResult, argv: tuple[str, ...], timeout_s: float) -> Failed | None:
    """Why a command of an installation failed, with the end of what it said; None when it did not.

    Only an end by itself is a lasting reason: what was stopped may do better the next time.
    """
    if result.succeeded:
        return None
    said = [line.rstrip() for line in (result.stderr.strip() or result.stdout.strip()).splitlines() if line.strip()]
    last = said[-1].strip() if said else ""
    ending = ending_in_words(result, program=argv[0], timeout_s=timeout_s)
    first = f"{_program(argv)} {ending}" + (f": {last}" if last else "")
    rest = "\n".join(said[-_SAID_LINES:])[-_LONGEST_PROBLEM:]
    return Failed(f"{first}\n{rest}" if rest else first, lasting=result.termination in ("exited", "not_started"))


def _program(argv: tuple[str, ...]) -> str:
    return argv[argv.index("-m") + 1] if "-m" in argv[:3] else Path(argv[0]).name


def _discreet(text: str) -> str:
    return _CREDENTIALS.sub("", text)
