"""A local target as a watcher sees and heals it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from milepost.core.watching import InstanceUse, TargetView, UpstreamCounts
from milepost.ship.local.look import look_at
from milepost.ship.local.target import LocalTarget
from milepost.ship.local.wanted import Kept, Program, read_kept, read_wanted

_LONG_LOG = 100_000


@dataclass(frozen=True, slots=True)
class WatchedLocalTarget:
    """What is looked at and done; all of it may be done twice."""

    target: LocalTarget
    memory_limit_bytes: int | None = None

    def look(self) -> TargetView:
        """Everything that can be seen of what is live now."""
        wanted, kept, shown = read_wanted(self.target.folder), read_kept(self.target.folder), self.target.shown()
        disk = shutil.disk_usage(self.target.folder) if self.target.folder.exists() else None
        if wanted is None or not shown:
            return TargetView(release=0, previous=None, detail="nothing is live")
        release, previous = shown[0], shown[1] if len(shown) > 1 else None
        live = wanted.of(release)
        behind = wanted.of(previous) if previous is not None else ()
        answers = self._answers((*live, *behind), kept)
        tries = self.target.proxy.tries(release)
        times = self.target.proxy.times(release)
        counts = [
            UpstreamCounts(instance=one.name, requests=total, errors=failed, in_flight=under_way)
            for one in live
            for total, failed, under_way in [tries.get(one.port, (0, 0, 0))]
        ]
        whole = UpstreamCounts(requests=sum(map(_asked, counts)), errors=sum(map(_failed, counts)), time_ms=times)
        return TargetView(
            release=release,
            previous=previous,
            previous_answers=bool(behind) and all(answers[one.name] for one in behind),
            instances=tuple(self._use(one, kept.get(one.name)) for one in live),
            answers=tuple((one.name, answers[one.name]) for one in live),
            upstream=(whole, *counts),
            disk_free_bytes=disk.free if disk else None,
            disk_bytes=disk.total if disk else None,
        )

    def restart_instance(self, name: str) -> None:
        self.target.restart_instance(name)

    def replace_dead(self) -> None:
        """The keeper starts again what is dead; see to it that there is one."""
        self.target.keep()

    def scale(self, instances: int) -> None:
        self.target.scale(instances)

    def clear_disk(self) -> int:
        """Take away logs of releases that are gone and what was moved aside, and cut long ones to their end."""
        wanted = read_wanted(self.target.folder)
        used = {Path(program.log) for program in wanted.programs} if wanted else set()
        freed = 0
        for log in [*self.target.folder.glob("logs/*"), *self.target.folder.glob("*.log*")]:
            with suppress(OSError):
                size = log.stat().st_size
                if log not in used and log.parent.name == "logs":
                    log.unlink()
                    freed += size
                elif size > _LONG_LOG:
                    os.truncate(log, 0)
                    freed += size
        return freed

    def _answers(self, programs: Sequence[Program], kept: dict[str, Kept]) -> dict[str, bool]:
        """All are asked at once, so that one that hangs keeps nobody back."""
        path = self.target.spec.health_path
        with ThreadPoolExecutor(max(1, min(16, len(programs)))) as pool:
            seen = pool.map(lambda one: look_at(one, kept.get(one.name), path), programs)
            return {one.name: not found.problem for one, found in zip(programs, seen, strict=True)}

    def _use(self, program: Program, kept: Kept | None) -> InstanceUse:
        process = kept.process if kept and kept.process and kept.process.alive else None
        found = _use_of(process.pid) if process else None
        return InstanceUse(
            name=program.name,
            alive=process is not None,
            cpu_s=found[0] if found else None,
            memory_bytes=found[1] if found else None,
            memory_limit_bytes=self.memory_limit_bytes,
            restarts=len(kept.recent_deaths) if kept else 0,
        )


def _asked(counts: UpstreamCounts) -> int:
    return counts.requests


def _failed(counts: UpstreamCounts) -> int:
    return counts.errors


def _use_of(pid: int) -> tuple[float, int] | None:
    """Processor time and memory of a process; None when it is gone."""
    with suppress(OSError, IndexError, ValueError):
        facts = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        ticks = int(facts[11]) + int(facts[12])
        return ticks / os.sysconf("SC_CLK_TCK"), int(facts[21]) * os.sysconf("SC_PAGE_SIZE")
    return None
