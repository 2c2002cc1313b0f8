"""One environment of one target on this machine: its folder, its records, its lock, and the target itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from milepost.core.errors import EngineBusy
from milepost.core.ports import Target, TargetControls
from milepost.core.shipping import TargetSpec
from milepost.engine.deploys.target_spec import LOCAL
from milepost.engine.project.open_folder import ignore
from milepost.engine.project.project import Project
from milepost.engine.project.state_directory import make_state
from milepost.engine.project.state_lock import StateLock, holder_of
from milepost.engine.records.releases import Releases
from milepost.ship.local.target import LocalTarget
from milepost.ship.targets import open_target as open_vendor_target
from milepost.store.database import open_database

KEPT_ARTIFACTS = 5


class Deployable(Target, TargetControls, Protocol):
    """A target that can be scaled and read, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where releases of one target and environment are kept on this machine."""

    project: Project
    target: str
    environment: str

    @property
    def folder(self) -> Path:
        return self.project.state / "targets" / self.target / self.environment

    def artifacts(self, number: int) -> Path:
        """What release `number` was made of."""
        return self.folder / "artifacts" / str(number)

    def open_target(self, spec: TargetSpec) -> Deployable:
        """The target as a spec has it."""
        if spec.kind == LOCAL:
            return LocalTarget(spec, self.folder)
        return open_vendor_target(spec, self.folder / "handed-over", os.environ)

    @contextmanager
    def records(self) -> Iterator[Releases]:
        """To be read by anybody at any time; nothing is made where nothing was deployed."""
        place = self.project.database if self.project.database.exists() else Path(":memory:")
        with closing(open_database(place)) as database:
            yield Releases(database, self.target, self.environment)

    @contextmanager
    def held(self) -> Iterator[Releases]:
        """The records, while nobody else deploys here; raises EngineBusy while somebody does."""
        make_state(self.project.state)
        ignore(self.project.roadmap.parent)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = StateLock(self.folder)
        try:
            lock.__enter__()
        except EngineBusy:
            raise self._busy() from None
        try:
            with closing(open_database(self.project.database)) as database:
                yield Releases(database, self.target, self.environment)
        finally:
            lock.__exit__(None, None, None)

    @property
    def is_held(self) -> bool:
        """Whether somebody deploys here now."""
        return holder_of(self.folder) is not None

    def _busy(self) -> EngineBusy:
        holder = holder_of(self.folder)
        by = f" (pid {holder.pid} on this machine)" if holder else ""
        return EngineBusy(
            f"another deploy to {self.target} ({self.environment}) is in progress{by}",
            f"wait for it: milepost releases {self.target} --env {self.environment}",
        )
