"""The host under attack: owns the plants, runs attacks one by one where it is told to, and tells what it saw.

Run as a program. A line on standard input is a trial: an attack and where it runs, `bare` or a trust level. The line
that answers is what showed that the attack succeeded, or why there was nothing to try.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost.core.commands import (
    NO_NETWORK,
    OWN_LOOPBACK,
    Bounds,
    Command,
    ExecutionLimits,
    ExecutionResult,
    TrustLevel,
    trust_named,
)
from milepost.core.errors import SandboxRefused
from milepost.sandbox.levels import open_executor, open_terminal
from milepost.sandbox.terminal import WalledTerminal
from tests.attacks import attack as bounds
from tests.attacks import naive, plants, tree
from tests.attacks.attack import Attack, Way, prelude
from tests.attacks.calls import numbers
from tests.attacks.observed import Observed, signs, successes

# What a busy machine may add to a limit of time. How exact timeouts are is looked at elsewhere.
_SLACK_S = 1.5
_HOLD_S = 4.0
_LOOKS = 5
_PATIENCE_WITH_KEEPERS_S = 8.0  # they end after they have told that all is over
_FLOOD_BYTES = 64_000_000
_LONGEST_VALUE = 5_000_000
_BOUNDS = Bounds(
    memory_mb=bounds.MEMORY_MB,
    processes=bounds.PROCESSES,
    disk_mb=bounds.DISK_MB,
    inodes=bounds.INODES,
    file_mb=bounds.FILE_MB,
    open_files=bounds.OPEN_FILES,
)


def main() -> None:
    """Answer trials until the input ends."""
    tree.adopt_orphans()
    channel = os.dup(0), os.dup(1)
    with Path(os.devnull).open("r+") as nowhere:
        os.dup2(nowhere.fileno(), 0)
        os.dup2(nowhere.fileno(), 1)
    host = Host(Path(sys.argv[1]))
    try:
        with os.fdopen(channel[0]) as trials, os.fdopen(channel[1], "w", buffering=1) as told:
            for line in trials:
                told.write(json.dumps(host.tell(json.loads(line))) + "\n")
    finally:
        host.close()


class Host:
    """Runs attacks: each in a session of its own, and as a command in a terminal that all share."""

    def __init__(self, place: Path) -> None:
        self._pid = os.getpid()
        self._place = place
        self._plants = plants.Plants(place)
        plants.HOST_SECRET = self._plants.tokens.variable
        self._tokens = self._plants.tokens.all()
        self._open = contextlib.ExitStack()
        self._terminals: dict[TrustLevel, WalledTerminal] = {}
        self._stays: frozenset[Path] = frozenset()

    def tell(self, trial: dict[str, Any]) -> dict[str, Any]:
        attack = Attack.from_json(trial["attack"])
        try:
            if trial["where"] == "bare":
                return self._bare(attack)
            return self._held(attack, trust_named(trial["where"]), trial["way"])
        except SandboxRefused as refusal:
            return {"refused": str(refusal)}

    def close(self) -> None:
        self._open.close()
        self._plants.close()

    def _bare(self, attack: Attack) -> dict[str, Any]:
        """The signs of success, by the attack's own oracle, against a naive host."""
        self._plants.replant()
        before = set(tree.below(os.getpid()))
        control = naive.Control(
            attack, lambda host: self._code(attack, host), self._plants.work, self._plants.left_open
        )
        with self._meanwhile(attack) as seen:
            said, concluded, late = control.outcome()
        if concluded is not None and "last" not in concluded:
            concluded = {"last": concluded, "altered": [], "held": []}  # what it wrote is not its own any more
        observed = self._observed(
            said=f"{said}\n{concluded}",
            harmed=_harm(concluded, late),
            left=self._left(before),
            overran=_overruns_of_naive(concluded, late, control.said_bytes),
            believed=_believed_by_naive(attack, concluded),
            visits=seen,
        )
        found = list(signs(attack.oracle, observed, self._tokens, attack.proof))
        return {"signs": found, "said": f"{said[-300:]} {concluded}"}

    def _held(self, attack: Attack, level: TrustLevel, way: Way) -> dict[str, Any]:
        """All signs of success behind the walls of a level."""
        self._warm_up(level)
        self._plants.replant()
        before = set(tree.below(os.getpid()))
        state = plants.state_of_process()
        results: list[ExecutionResult] = []
        harmed: list[str] = []
        with self._meanwhile(attack) as seen:
            try:
                trial = self._executed(attack, level) if way == "executor" else self._commanded(attack, level, way)
                results.extend(trial)
            except Exception as problem:
                harmed.append(f"{type(problem).__name__}: {problem}")
        harmed.extend(f"it never ran: {result.error}" for result in results if result.termination == "not_started")
        if plants.state_of_process() != state:
            harmed.append(plants.state_of_process())
        observed = self._observed(
            said="\n".join(f"{r.output}\n{r.error}\n{json.dumps(r.final_value)}" for r in results),
            harmed=tuple(harmed),
            left=self._left(before, _PATIENCE_WITH_KEEPERS_S) if attack.oracle == "orphan" else self._files_left(),
            overran=tuple(filter(None, (_overrun(result, attack) for result in results))),
            believed=_believed(attack, results),
            visits=seen,
        )
        found = successes(attack, observed, self._tokens)
        enforced = results[-1].enforced if results else ()
        return {"signs": found, "results": [_in_short(result) for result in results], "enforced": enforced}

    def _warm_up(self, level: TrustLevel) -> None:
        """Have running what stays for the next trial, so that what an attack leaves can be told from it."""
        if level not in self._terminals:
            self._terminals[level] = self._open.enter_context(open_terminal(level))
            self._terminals[level].run(self._command("pass"))
            self._open.enter_context(open_executor(level)).run("pass")
            self._stays = frozenset(Path(tempfile.gettempdir()).iterdir())

    def _executed(self, attack: Attack, level: TrustLevel) -> Iterator[ExecutionResult]:
        limits = ExecutionLimits(
            timeout_s=attack.timeout_s,
            memory_mb=bounds.MEMORY_MB,
            output_bytes=bounds.OUTPUT_BYTES,
            processes=bounds.PROCESSES,
            open_files=bounds.OPEN_FILES,
            file_mb=bounds.FILE_MB,
            disk_mb=bounds.DISK_MB,
            inodes=bounds.INODES,
        )
        with open_executor(level, limits, workspace=self._plants.work) as executor:
            executor.inject("host_tool", plants.host_tool)
            yield executor.run(self._code(attack, os.getpid()))
            if attack.anew:
                executor.reset()
            if attack.then:
                yield executor.run(attack.then)

    def _commanded(self, attack: Attack, level: TrustLevel, way: Way) -> Iterator[ExecutionResult]:
        """The attack as a command, its result in the shape of an execution's."""
        network = OWN_LOOPBACK if way == "terminal with loopback" else NO_NETWORK
        command = self._command(self._code(attack, os.getpid()))
        done = self._terminals[level].run(replace(command, timeout_s=attack.timeout_s, network=network))
        yield ExecutionResult(
            output=f"{done.stdout}\n{done.stderr}",
            error=done.error or (None if done.exit_code == 0 else f"exit {done.exit_code}"),
            termination=done.termination,
            timeout=done.termination == "timeout",
            duration_ms=done.duration_ms,
            enforced=done.enforced,
            refused=done.refused,
        )

    def _command(self, code: str) -> Command:
        return Command(
            argv=(sys.executable, "-c", code),
            cwd=self._plants.work,
            scratch=self._place / "scratch",
            readable=(self._plants.shared,),
            output_bytes=bounds.OUTPUT_BYTES,
            bounds=_BOUNDS,
        )

    def _code(self, attack: Attack, host: int) -> str:
        """The attack as it runs here; what it holds too much of it holds longer where somebody watches."""
        hold_s = _HOLD_S if host == self._pid else 0.0
        return prelude({**self._plants.names(host), "HOLD_S": hold_s}, numbers()) + attack.code

    def _observed(self, *, visits: list[str], said: str, **more: Any) -> Observed:
        return Observed(
            said=f"{said}\n{self._plants.found_in_workspace()}",
            changed=self._plants.changes(),
            visits=(*visits, *self._plants.canaries.visits()),
            **more,
        )

    def _left(self, before: set[int], patience_s: float = 0.0) -> tuple[str, ...]:
        """What was not there before and does not go by itself; it is ended, for the sake of the next trial."""
        deadline = time.monotonic() + patience_s
        while self._new(before) and time.monotonic() < deadline:
            time.sleep(0.005)
        found: dict[int, str] = {}
        while new := self._new(before):
            found.update(new)
            tree.end(set(new))
        return (*(f"{name} still runs as {pid}" for pid, name in found.items()), *self._files_left())

    def _files_left(self) -> tuple[str, ...]:
        """What is in the folder for passing files, beside what is there all the time."""
        left = set(Path(tempfile.gettempdir()).iterdir()) - self._stays
        for path in left:
            plants.remove(path)
        return tuple(f"{path} is left" for path in sorted(left))

    def _new(self, before: set[int]) -> dict[int, str]:
        """The processes below this one that are not of before; who forks and exits all the time is easily missed."""
        for _ in range(_LOOKS):
            if new := {pid: name for pid, name in tree.below(os.getpid()).items() if pid not in before}:
                return new
        return {}

    @contextlib.contextmanager
    def _meanwhile(self, attack: Attack) -> Iterator[list[str]]:
        """What the host does while an attack waits for it."""
        visits: list[str] = []
        if not attack.listens:
            yield visits
            return
        over = threading.Event()

        def meet() -> None:
            port = self._plants.canaries.names()["FREE"]
            while not over.wait(0.02):
                self._plants.touch_outside()
                if plants.is_reached(port):
                    visits.append(f"the host could connect to port {port} of the guest")
                    return

        meeting = threading.Thread(target=meet)
        meeting.start()
        try:
            yield visits
        finally:
            over.set()
            meeting.join()


def _harm(concluded: dict[str, Any] | None, late: bool) -> tuple[str, ...]:
    if late:
        return ("it hung",)
    if concluded is None:
        return ("it died",)
    return tuple(concluded["altered"])


def _overruns_of_naive(concluded: dict[str, Any] | None, late: bool, said_bytes: int) -> tuple[str, ...]:
    if late:
        return ("time",)
    if said_bytes > _FLOOD_BYTES:
        return (f"wrote {said_bytes} bytes",)
    return tuple(f"holds {size} bytes" for size in concluded["held"]) if concluded else ()


def _believed_by_naive(attack: Attack, concluded: dict[str, Any] | None) -> tuple[str, ...]:
    if concluded is None or concluded["last"] is None:
        return ()
    last = concluded["last"]
    is_fooled = _is_fooled(attack, last["ok"] is True or last["value"] is not None, last["value"])
    return (str(last),) if is_fooled else ()


def _believed(attack: Attack, results: list[ExecutionResult]) -> tuple[str, ...]:
    if not results:
        return ()
    last = results[-1]
    return (str(last),) if _is_fooled(attack, last.succeeded or last.is_final, last.final_value) else ()


def _is_fooled(attack: Attack, succeeded: bool, value: object) -> bool:
    """Honest code that goes next says `honest`; the attack itself never succeeds."""
    return succeeded and not (attack.then and value == "honest")


def _in_short(result: ExecutionResult) -> dict[str, Any]:
    said = {"output": result.output[-600:], "error": result.error}
    return {"termination": result.termination, **said, "refused": result.refused}


def _overrun(result: ExecutionResult, attack: Attack) -> str:
    if result.duration_ms / 1000 > attack.timeout_s + _SLACK_S:
        return f"took {result.duration_ms} ms"
    if len(json.dumps(result.final_value)) > _LONGEST_VALUE:
        return "the host holds a value without end"
    if len(result.output) > 2 * bounds.OUTPUT_BYTES + 1000:
        return f"kept {len(result.output)} characters of output"
    return ""


if __name__ == "__main__":
    main()
