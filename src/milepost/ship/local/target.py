"""The local target: releases as processes of this user, behind two Envoys on one port.

It writes down what is to run, has a keeper run it, and moves the traffic. Every call may be made again by another
process, which finds all of it in the folder.
"""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.errors import Misuse, StateUnwritable, TargetRefused
from milepost.core.secrets.redact import Redactor
from milepost.core.shipping import Health, Release, TargetSpec
from milepost.ship.local import envoy_config
from milepost.ship.local.installation import Installation, install, installation_of
from milepost.ship.local.keeping import Keeping
from milepost.ship.local.look import ADDRESS, ANSWER_S, Instance, last_line, look_at, most_telling
from milepost.ship.local.processes import stranger_on
from milepost.ship.local.proxy import Counts, Proxy, binary
from milepost.ship.local.wanted import Program, Wanted, read_kept, read_wanted, write_wanted

DRAIN_S = 15.0
LEAST_ASKED, MOST_FAILED = 20, 0.1
"""A release that failed more of its requests than this, of at least so many since it was switched to, is not well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beginning:
    """When a release was first seen with traffic by this process, and what it had been asked by then."""

    at: float
    counts: Counts


class LocalTarget:
    """One environment of a local target, in a folder of its own."""

    at_once = False

    def __init__(self, spec: TargetSpec, folder: Path, environ: Mapping[str, str] = os.environ) -> None:
        self.spec = spec
        self.folder = folder
        self._environ = environ
        self._proxy = Proxy(folder)
        self._keeping = Keeping(folder, environ)
        self._beginnings: dict[int, _Beginning] = {}

    @property
    def proxy(self) -> Proxy:
        return self._proxy

    @property
    def port(self) -> int:
        """Where users come in; 0 before anything was deployed."""
        wanted = read_wanted(self.folder)
        return wanted.port if wanted else self.spec.port

    def deploy(self, release: Release) -> str:
        """Put its files into a folder and start its instances, which nobody is sent to yet."""
        envoy = binary()
        self._require_secrets()
        wanted = self._ready_folder()
        self._require_port(wanted)
        home = self.folder / "releases" / str(release.number)
        plan = installation_of(release.artifact, self.spec, home)
        install(plan, release.artifact, home)
        self._proxy.prepare(ADDRESS, wanted.port)
        proxies = [self._proxy_program(envoy, side) for side in envoy_config.SIDES]
        have = wanted.of(release.number)
        instances = have or self._instances(release.number, plan, self._count(wanted))
        self._keeping.want(wanted.also(*proxies, *instances), fresh=bool(self.spec.secrets) and not have)
        return f"{ADDRESS}:{wanted.port}"

    def health(self, release: Release) -> Health:
        """Each instance by its own port, whether it is ours that answers, and whether it stayed up with traffic."""
        wanted = self._wanted()
        instances = self.instances(release.number)
        if not instances:
            return Health(healthy=False, detail="it is stopped")
        well = sum(not each.problem for each in instances)
        if ill := [each for each in instances if each.problem]:
            settled = any(each.settled for each in ill) or (
                not any(each.alive for each in instances) and any(each.deaths for each in instances)
            )
            return Health(healthy=False, settled=settled, instances=well, detail=most_telling(ill).problem)
        if self._shown()[:1] == (release.number,) and (
            problem := self._problem_with_traffic(release.number, instances)
        ):
            return Health(healthy=False, instances=well, detail=problem)
        return Health(healthy=True, instances=well, detail=f"http://{ADDRESS}:{wanted.port}")

    def instances(self, release: int) -> tuple[Instance, ...]:
        """The instances of a release, each with what is wrong with it."""
        kept = read_kept(self.folder)
        path = self.spec.health_path
        return tuple(look_at(program, kept.get(program.name), path) for program in self._wanted().of(release))

    def switch(self, release: Release) -> None:
        """Send all new requests to it, with the release before it warm behind it, if that still runs."""
        if not self._wanted().of(release.number):
            self._start_again(release)
        self._keeping.keep()
        self._proxy.wait()
        wanted = self._wanted()
        behind = release.previous if release.previous is not None and wanted.of(release.previous) else None
        if behind is not None:
            self._proxy.place(behind, _ports(wanted.of(behind)))
        self._begin(release.number)
        self._proxy.show(release.number, _ports(wanted.of(release.number)), behind)

    def retire(self, release: Release) -> None:
        """Take it out of the proxy, wait for what is under way, and stop it."""
        wanted = read_wanted(self.folder)
        if wanted is None:
            return
        if release.number in (shown := self._shown()):
            self._take_out(release.number, shown, wanted)
        if wanted.of(release.number):
            self._proxy.drained(release.number, DRAIN_S)
            self._keeping.want(wanted.without(*(program.name for program in wanted.of(release.number))))
            self._keeping.until_gone(f"{wanted.mark}/{release.number}.")
        if not any(program.release is not None for program in self._wanted().programs):
            self._stop()  # nothing is left that the proxies could show
        elif self._is_serving():
            self._proxy.forget(release.number)
        home = self.folder / "releases" / str(release.number)
        shutil.rmtree(home, ignore_errors=True)

    def scale(self, instances: int) -> None:
        """Run so many instances of what is live; with none, everything here stops until the next deploy."""
        if instances == 0:
            self._stop()
            return
        number, *_ = self._shown() or self._nothing_live()
        wanted = self._wanted()
        have = wanted.of(number)
        self._require_secrets()
        if instances > len(have):
            sample = have[0]
            more = tuple(self._instance(sample, number, at) for at in _free_places(have, instances - len(have)))
            self._keeping.want(wanted.also(*more), fresh=bool(self.spec.secrets))
            self._await_well(number)
            self._proxy.place(number, _ports(self._wanted().of(number)))
        elif instances < len(have):
            self._proxy.place(number, _ports(have[:instances]))
            self._proxy.drained(number, ANSWER_S)
            self._keeping.want(wanted.without(*(program.name for program in have[instances:])))
            for program in have[instances:]:
                self._keeping.until_gone(f"{wanted.mark}/{program.name}/")

    def restart(self) -> None:
        """Exchange the instances of what is live, one after the other, for new ones."""
        number, *_ = self._shown() or self._nothing_live()
        for program in self._wanted().of(number):
            self.restart_instance(program.name)

    def restart_instance(self, name: str) -> None:
        """Start another instance of what is live in the place of one, and stop that when its requests have ended."""
        number, *_ = self._shown() or self._nothing_live()
        wanted = self._wanted()
        program = next((each for each in wanted.of(number) if each.name == name), None)
        if program is None:
            return
        new = self._instance(program, number, _free_places(wanted.of(number), 1)[0])
        self._keeping.want(wanted.also(new), fresh=bool(self.spec.secrets))
        self._await_well(number, besides=name)
        kept = [each for each in self._wanted().of(number) if each.name != name]
        self._proxy.place(number, _ports(tuple(kept)))
        self._proxy.drained(number, ANSWER_S)
        self._keeping.want(self._wanted().without(name))
        self._keeping.until_gone(f"{wanted.mark}/{name}/")

    def logs(self, release: Release, lines: int) -> str:
        """The last lines that the instances of a release printed, without the secrets that it was given."""
        redact = Redactor(self._environ[source] for _, source in self.spec.secrets if source in self._environ)
        found: list[str] = []
        for path in sorted((self.folder / "logs").glob(f"{release.number}.*.log")):
            with suppress(OSError):
                last = path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
                found += [f"{path.stem}  {line}" for line in last]
        return redact("\n".join(found))

    def shown(self) -> tuple[int, ...]:
        """The release with the traffic and the one behind it, by the proxy's own files."""
        return self._shown()

    def is_kept(self) -> bool:
        """Whether a keeper is at work, or there is nothing to keep."""
        wanted = read_wanted(self.folder)
        return wanted is None or not wanted.programs or self._keeping.keeper is not None

    def keep(self) -> None:
        """See to it that a keeper is at work where something is to run."""
        if not self.is_kept():
            self._keeping.keep()

    def _problem_with_traffic(self, release: int, instances: tuple[Instance, ...]) -> str:
        """What is wrong since it was switched to: it does not stay up, or it fails too many of its requests."""
        beginning = self._beginnings.get(release) or self._begin(release)
        if all(each.died_at > beginning.at for each in instances):
            return f"every instance ended{last_line(self._wanted().of(release)[0].log)}"
        counts = self._proxy.counts(release).since(beginning.counts)
        if counts.asked >= LEAST_ASKED and counts.failed / counts.asked > MOST_FAILED:
            return f"{counts.failed} of {counts.asked} requests failed"
        return ""

    def _begin(self, release: int) -> _Beginning:
        self._beginnings[release] = _Beginning(at=time.time(), counts=self._proxy.counts(release))
        return self._beginnings[release]

    def _start_again(self, release: Release) -> None:
        """A release that was stopped long ago: start it and wait until it is well."""
        self.deploy(release)
        self._await_well(release.number)

    def _await_well(self, release: int, *, besides: str = "") -> None:
        until = time.monotonic() + self.spec.start_timeout_s
        while problems := [each.problem for each in self.instances(release) if each.problem and each.name != besides]:
            if time.monotonic() > until:
                raise TargetRefused(problems[0], f"see: milepost logs {self.spec.name}")
            time.sleep(0.1)

    def _take_out(self, number: int, shown: tuple[int, ...], wanted: Wanted) -> None:
        """Show what is left of a pair without it."""
        self._keeping.keep()
        self._proxy.wait()
        left = [each for each in shown if each != number and wanted.of(each)]
        if left:
            self._proxy.show(left[0], _ports(wanted.of(left[0])))
        else:
            self._proxy.show_nothing()

    def _stop(self) -> None:
        wanted = read_wanted(self.folder)
        if wanted is not None:
            if self._is_serving():
                self._proxy.show_nothing()
            self._keeping.want(Wanted(mark=wanted.mark, port=wanted.port))
            self._keeping.until_gone(f"{wanted.mark}/")

    def _count(self, wanted: Wanted) -> int:
        """As many instances as what is live has now, which somebody may have scaled; else as the settings say."""
        live = wanted.of(self._shown()[0]) if self._shown() else ()
        return len(live) or self.spec.instances[0]

    def _instances(self, release: int, plan: Installation, count: int) -> tuple[Program, ...]:
        path = f"{plan.programs}:{self._environ.get('PATH', os.defpath)}" if plan.programs else ""
        variables = ((("PATH", path),) if path else ()) + self.spec.variables
        sample = Program(
            name=f"{release}.0",
            argv=plan.argv,
            folder=str(plan.folder),
            log="",
            variables=variables,
            secrets=self.spec.secrets,
        )
        return tuple(self._instance(sample, release, at) for at in range(count))

    def _instance(self, sample: Program, release: int, at: int) -> Program:
        """One more instance like another, on a port of its own."""
        log = str(self.folder / "logs" / f"{release}.{at}.log")
        return replace(sample, name=f"{release}.{at}", log=log, port=free_port())

    def _proxy_program(self, envoy: Path, side: str) -> Program:
        return Program(
            name=f"proxy.{side}",
            argv=envoy_config.command(envoy, self.folder, side),
            folder=str(self.folder),
            log=str(self.folder / f"envoy-{side}.log"),
        )

    def _ready_folder(self) -> Wanted:
        """The folder as it is, or a new one with a port chosen."""
        try:
            (self.folder / "logs").mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.chmod(0o700)
            wanted = read_wanted(self.folder)
            if wanted is not None and (not self.spec.port or wanted.port == self.spec.port):
                return wanted
            if wanted is not None and wanted.programs:
                raise Misuse(
                    f"target {self.spec.name} is in use on port {wanted.port}",
                    f"stop it first: milepost scale {self.spec.name} 0   then deploy to port {self.spec.port}",
                )
            mark = f"{self.spec.name}-{self.spec.environment}-{os.urandom(4).hex()}"
            made = Wanted(mark=mark, port=self.spec.port or free_port())
            write_wanted(self.folder, made)
        except OSError as error:
            raise StateUnwritable(
                f"{str(self.folder)!r} cannot be written: {error.strerror}", "make it writable or free some space"
            ) from error
        return made

    def _require_port(self, wanted: Wanted) -> None:
        if other := stranger_on(wanted.port, wanted.mark):
            raise TargetRefused(
                f"port {wanted.port} is taken by {other}",
                f"stop that, or set another port in [targets.{self.spec.name}]",
            )

    def _require_secrets(self) -> None:
        missing = [source for _, source in self.spec.secrets if source not in self._environ]
        if missing:
            raise Misuse(
                f"variable {missing[0]} is not set here, and {self.spec.name} gives it to the application",
                f"set it for this command: {missing[0]}=… milepost deploy {self.spec.name}",
            )

    def _wanted(self) -> Wanted:
        return read_wanted(self.folder) or Wanted(mark="", port=0)

    def _shown(self) -> tuple[int, ...]:
        return tuple(map(int, self._proxy.shown()))

    def _is_serving(self) -> bool:
        return any(program.is_proxy for program in self._wanted().programs) and self._keeping.keeper is not None

    def _nothing_live(self) -> tuple[int, ...]:
        raise Misuse(f"nothing is live on {self.spec.name}", f"deploy first: milepost deploy {self.spec.name}")


def free_port() -> int:
    """A port of loopback that nobody uses now."""
    with closing(socket.socket()) as found:
        found.bind((ADDRESS, 0))
        return int(found.getsockname()[1])


def _ports(programs: tuple[Program, ...]) -> tuple[int, ...]:
    return tuple(program.port for program in programs)


def _free_places(have: tuple[Program, ...], count: int) -> list[int]:
    """The next numbers of instances that no instance has."""
    used = {int(program.name.partition(".")[2]) for program in have}
    free = (at for at in range(len(used) + count) if at not in used)
    return [at for _, at in zip(range(count), free, strict=False)]
