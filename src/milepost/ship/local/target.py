"""The local target: releases as processes of this user, behind two Envoys on one port.

It writes down what is to run, has a keeper run it, and moves the traffic. Every call may be made again by another
process, which finds all of it in the folder.
"""

from __future__ import annotations

import fcntl
import http.client
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.errors import Misuse, StateUnwritable, TargetRefused
from milepost.core.secrets.redact import Redactor
from milepost.core.shipping import Health, Release, TargetSpec
from milepost.ship.local import envoy_config
from milepost.ship.local.installation import Installation, install, installation_of
from milepost.ship.local.processes import Process, carrying, listens, mark_of, stranger_on
from milepost.ship.local.proxy import Counts, Proxy, binary
from milepost.ship.local.wanted import (
    KEEPER_LOCK,
    Kept,
    Program,
    Wanted,
    read_kept,
    read_wanted,
    write_wanted,
)

ADDRESS = "127.0.0.1"
ANSWER_S = 3.0
LONGEST_ANSWER = 1_000_000
DRAIN_S = 15.0
WAIT_S = 30.0
MOST_DEATHS = 3
LEAST_ASKED, MOST_FAILED = 20, 0.1
"""A release that failed more of its requests than this, of at least so many since it was switched to, is not well."""
_SETTLED_ANSWERS = (401, 403, 404, 405)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One process of a release: what it is at, or why not."""

    name: str
    port: int
    alive: bool
    deaths: int
    problem: str = ""
    settled: bool = True


class LocalTarget:
    """One environment of a local target, in a folder of its own."""

    at_once = False

    def __init__(self, spec: TargetSpec, folder: Path, environ: Mapping[str, str] = os.environ) -> None:
        self.spec = spec
        self.folder = folder
        self._environ = environ
        self._proxy = Proxy(folder)
        self._before: dict[int, Counts] = {}

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
        self._want(wanted.also(*proxies, *instances), fresh=bool(self.spec.secrets) and not have)
        return f"{ADDRESS}:{wanted.port}"

    def health(self, release: Release) -> Health:
        """Each instance by its own port, whether it is ours that answers, and whether it stayed up with traffic."""
        wanted = self._wanted()
        instances = self.instances(release.number)
        if not instances:
            return Health(healthy=False, detail="none of its instances is to run here")
        well = sum(not each.problem for each in instances)
        if ill := [each for each in instances if each.problem]:
            settled = any(each.settled for each in ill) or (
                not any(each.alive for each in instances) and any(each.deaths for each in instances)
            )
            return Health(healthy=False, settled=settled, instances=well, detail=ill[0].problem)
        if self._shown()[:1] == (release.number,):
            if all(each.deaths for each in instances):
                return Health(
                    healthy=False, instances=well, detail=f"every instance ended{_last_line_of(wanted, release)}"
                )
            counts = self._proxy.counts(release.number).since(
                self._before.setdefault(release.number, self._counts(release))
            )
            if counts.asked >= LEAST_ASKED and counts.failed / counts.asked > MOST_FAILED:
                share = f"{counts.failed} of {counts.asked} requests failed"
                return Health(healthy=False, instances=well, detail=share)
        return Health(healthy=True, instances=well, detail=f"http://{ADDRESS}:{wanted.port}")

    def instances(self, release: int) -> tuple[Instance, ...]:
        """The instances of a release, each with what is wrong with it."""
        kept = read_kept(self.folder)
        return tuple(self._look(program, kept.get(program.name)) for program in self._wanted().of(release))

    def switch(self, release: Release) -> None:
        """Send all new requests to it, with the release before it warm behind it, if that still runs."""
        if not self._wanted().of(release.number):
            self._start_again(release)
        self._keep()
        self._proxy.wait()
        wanted = self._wanted()
        behind = release.previous if release.previous is not None and wanted.of(release.previous) else None
        if behind is not None:
            self._proxy.place(behind, _ports(wanted.of(behind)))
        self._before[release.number] = self._counts(release)
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
            self._want(wanted.without(*(program.name for program in wanted.of(release.number))))
            self._until_gone(f"{wanted.mark}/{release.number}.")
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
            self._want(wanted.also(*more), fresh=bool(self.spec.secrets))
            self._await_well(number)
            self._proxy.place(number, _ports(self._wanted().of(number)))
        elif instances < len(have):
            self._proxy.place(number, _ports(have[:instances]))
            self._proxy.drained(number, ANSWER_S)
            self._want(wanted.without(*(program.name for program in have[instances:])))
            for program in have[instances:]:
                self._until_gone(f"{wanted.mark}/{program.name}/")

    def restart(self) -> None:
        """Exchange the instances of what is live, one after the other, for new ones."""
        number, *_ = self._shown() or self._nothing_live()
        for program in self._wanted().of(number):
            wanted = self._wanted()
            new = self._instance(program, number, _free_places(wanted.of(number), 1)[0])
            self._want(wanted.also(new), fresh=bool(self.spec.secrets))
            self._await_well(number)
            kept = [each for each in self._wanted().of(number) if each.name != program.name]
            self._proxy.place(number, _ports(tuple(kept)))
            self._proxy.drained(number, ANSWER_S)
            self._want(self._wanted().without(program.name))
            self._until_gone(f"{wanted.mark}/{program.name}/")

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
        return wanted is None or not wanted.programs or self._keeper() is not None

    def keep(self) -> None:
        """See to it that a keeper is at work where something is to run."""
        if not self.is_kept():
            self._keep()

    def _look(self, program: Program, kept: Kept | None) -> Instance:
        deaths = len(kept.deaths) if kept else 0
        name, settled = f"instance {program.name}", deaths >= MOST_DEATHS
        problem = ""
        if kept is not None and kept.process is not None and kept.process.alive:
            problem, answered = self._ask(program)
            settled = settled or answered in _SETTLED_ANSWERS
            if answered and not listens(program.port, kept.mark) and kept.process.alive:
                problem, settled = f"{name}: another program answers on port {program.port}", True
        alive = kept is not None and kept.process is not None and kept.process.alive
        if not alive:
            code = "" if kept is None or kept.ended_with is None else f" with {kept.ended_with}"
            why = kept.said if kept and kept.said else f"it ended{code}" if deaths else "it is being started"
            problem = f"{name}: {why}{_last_line(program.log) if deaths else ''}"
        return Instance(
            name=program.name, port=program.port, alive=alive, deaths=deaths, problem=problem, settled=settled
        )

    def _ask(self, program: Program) -> tuple[str, int]:
        """What is wrong with the answer of an instance, and its status; 0 where it does not answer."""
        path = self.spec.health_path
        try:
            with closing(http.client.HTTPConnection(ADDRESS, program.port, timeout=ANSWER_S)) as connection:
                connection.request("GET", path, headers={"User-Agent": "milepost"})
                response = connection.getresponse()
                response.read(LONGEST_ANSWER)
                status = response.status
        except (OSError, http.client.HTTPException) as error:
            said = getattr(error, "strerror", None) or str(error) or type(error).__name__
            return f"instance {program.name} does not answer GET {path}: {said}", 0
        if status < 400:
            return "", status
        return f"instance {program.name} answered GET {path} with {status}", status

    def _start_again(self, release: Release) -> None:
        """A release that was stopped long ago: start it and wait until it is well."""
        self.deploy(release)
        self._await_well(release.number)

    def _await_well(self, release: int) -> None:
        until = time.monotonic() + self.spec.start_timeout_s
        while problems := [each.problem for each in self.instances(release) if each.problem]:
            if time.monotonic() > until:
                raise TargetRefused(problems[0], f"see: milepost logs {self.spec.name}")
            time.sleep(0.1)

    def _take_out(self, number: int, shown: tuple[int, ...], wanted: Wanted) -> None:
        """Show what is left of a pair without it."""
        self._keep()
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
            self._want(Wanted(mark=wanted.mark, port=wanted.port))
            self._until_gone(f"{wanted.mark}/")

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

    def _want(self, wanted: Wanted, *, fresh: bool = False) -> None:
        try:
            write_wanted(self.folder, wanted)
        except OSError as error:
            raise StateUnwritable(
                f"{str(self.folder)!r} cannot be written: {error.strerror}", "free some space, then deploy again"
            ) from error
        self._keep(fresh=fresh)

    def _keep(self, *, fresh: bool = False) -> None:
        """Have a keeper at work; a fresh one knows the variables that are set here now."""
        keeper = self._keeper()
        if keeper is not None and not fresh:
            return
        if keeper is not None:
            with suppress(ProcessLookupError):
                os.kill(keeper.pid, 15)
            _wait(lambda: self._keeper() is None, "the keeper does not end")
        own = {name: value for name, value in self._environ.items() if name != "MILEPOST_INSTANCE"}
        with (self.folder / "keeper.log").open("ab") as log:
            subprocess.run(  # it leaves a process of its own, which is nobody's child
                (sys.executable, "-m", "milepost.ship.local.keeper", str(self.folder)),
                cwd=self.folder,
                env=own,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                check=False,
            )
        _wait(lambda: self._keeper() is not None, f"the keeper does not start: see {self.folder / 'keeper.log'}")

    def _keeper(self) -> Process | None:
        """The keeper of this folder, while it holds its lock."""
        with suppress(OSError, ValueError), (self.folder / KEEPER_LOCK).open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                pid, ticks = map(int, lock.read().split())
                found = Process(pid=pid, ticks=ticks)
                return found if found.alive else None
        return None

    def _until_gone(self, mark: str) -> None:
        """Wait until nothing carries a mark that begins so."""
        above = mark.partition("/")[0]

        def is_gone() -> bool:
            return not any(mark_of(pid).startswith(mark) for pid in carrying(above))

        _wait(is_gone, "an instance does not end")

    def _shown(self) -> tuple[int, ...]:
        return tuple(map(int, self._proxy.shown()))

    def _is_serving(self) -> bool:
        return any(program.is_proxy for program in self._wanted().programs) and self._keeper() is not None

    def _counts(self, release: Release) -> Counts:
        return self._proxy.counts(release.number)

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


def _last_line_of(wanted: Wanted, release: Release) -> str:
    return _last_line(wanted.of(release.number)[0].log)


def _last_line(log: str) -> str:
    with suppress(OSError):
        lines = [line for line in Path(log).read_text(errors="replace").splitlines() if line.strip()]
        return f": {lines[-1].strip()[:200]}" if lines else ""
    return ""


def _wait(is_so: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + WAIT_S
    while not is_so():
        if time.monotonic() > until:
            raise TargetRefused(what, "try again")
        time.sleep(0.02)
