"""Settings that `init` proposes: for services on loopback, and for files that git ignores and tests may need."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from milepost.core.loopback_services import SERVICES, Service

COMPOSE = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
ENVIRONMENTS = (".env.example", ".env.sample", ".env.template", ".env.test", ".env")
MANIFESTS = ("pyproject.toml", "requirements.txt", "setup.cfg", "package.json", "go.mod", "Cargo.toml", "Gemfile")
READ = (*COMPOSE, *ENVIRONMENTS, *MANIFESTS)
_IMAGE = re.compile(r"^\s*image:\s*[\"']?(\S+?)[\"']?\s*$", re.MULTILINE)
_ADDRESS = re.compile(
    r"^\s*(?:export\s+)?(?P<name>\w+)\s*=\s*[\"']?(?P<value>(?P<scheme>\w+)(?:\+\w+)?://[^\s\"'{}]+)", re.MULTILINE
)
_PORT = re.compile(r"(?:^\s*-\s*|[\[,]\s*)[\"']?(?:[\d.]+:)?(\d+):(\d+)[\"']?\s*(?:$|[\],])", re.MULTILINE)
_LOCAL = re.compile(
    r"(?:^|/)(?:\.env(?:\.\w+)?|(?:.*[._-])?local(?:[._-].*)?\.(?:json|toml|ya?ml|py|ini|cfg|env|js|properties)|.+\.local)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What `init` would set, in a sentence, and the lines of milepost.toml that do."""

    says: str
    lines: tuple[str, ...]

    def text(self, *, accepted: bool) -> str:
        """The lines as they are where somebody accepted them, else as comments; tables stand either way."""
        shown = (line if accepted or line.startswith("[") else f"# {line}" for line in self.lines)
        return "\n".join(("", f"# {self.says}", *shown, ""))


def proposals(files: Mapping[str, str], ignored: Iterable[str] = ()) -> tuple[Proposal, ...]:
    """What these files of a project speak of; `ignored` are those that are there and git ignores."""
    copied = tuple(path for path in ignored if _LOCAL.search(path))
    return (*_of_services(files), *_of_copies(copied))


def _of_services(files: Mapping[str, str]) -> Iterable[Proposal]:
    found = services_in(files)
    if not found:
        return
    ports = _ports(files)
    hosts = [f"127.0.0.1:{ports.get(service.port, service.port)}" for service in found]
    names = " and ".join(service.name for service in found)
    says = f"Let agents and checks reach {names} at {', '.join(hosts)}, which the network wall keeps them from."
    variables = {name: value for name, value in _variables(files).items() if value}
    rows = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in variables.items()]
    table = ("", "[surroundings.env]", *rows) if rows else ()
    yield Proposal(says=says, lines=("[sandbox]", f"network = {json.dumps(hosts)}", *table))


def _of_copies(paths: tuple[str, ...]) -> Iterable[Proposal]:
    if paths:
        says = f"Copy {', '.join(paths)}, which git ignores, into checkouts: tests may need what is in them."
        yield Proposal(says=says, lines=("[workspace]", f"copy = {json.dumps(paths, ensure_ascii=False)}"))


def services_in(files: Mapping[str, str]) -> tuple[Service, ...]:
    """The services that a compose file starts, an address names, or a manifest has a client of."""
    return tuple(service for service in SERVICES if any(_signs(service, files)))


def _signs(service: Service, files: Mapping[str, str]) -> Iterable[bool]:
    for name, text in files.items():
        if name in COMPOSE:
            images = (image.rpartition("/")[2].partition(":")[0] for image in _IMAGE.findall(text))
            yield any(image.startswith(service.images) for image in images)
        elif name in ENVIRONMENTS:
            yield any(match["scheme"] in service.schemes for match in _ADDRESS.finditer(text))
        elif name in MANIFESTS:
            yield any(_names(client, text) for client in service.clients)


def _names(client: str, text: str) -> bool:
    return re.search(rf"(?<![\w@/.-]){re.escape(client)}(?![\w/-])", text) is not None or (
        "/" in client and client in text
    )


def _ports(files: Mapping[str, str]) -> dict[int, int]:
    """On which port of this machine a compose file offers each port of a service."""
    pairs = (pair for name in COMPOSE for pair in _PORT.findall(files.get(name, "")))
    return {int(inside): int(outside) for outside, inside in pairs}


def _variables(files: Mapping[str, str]) -> dict[str, str]:
    """The variables that say where services are; only an example gives the value."""
    known = {scheme for service in SERVICES for scheme in service.schemes}
    found = {}
    for name in reversed(ENVIRONMENTS):
        for match in _ADDRESS.finditer(files.get(name, "")):
            if match["scheme"] in known:
                found[match["name"]] = "" if name == ".env" else match["value"]
    return found
