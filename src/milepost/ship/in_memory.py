"""A target that lives in this process: every promise of a target, and no machine."""

from __future__ import annotations

from milepost.core.shipping import Health, Release


class InMemoryTarget:
    """Runs nothing and forgets nothing. A release whose artifact is named in `ill` never gets well."""

    def __init__(self, ill: frozenset[str] = frozenset(), *, at_once: bool = False) -> None:
        self.at_once = at_once
        self.ill = set(ill)
        self.kept: dict[int, Release] = {}
        self.live: int | None = None
        self.instances = 1
        self.switches: list[int] = []

    def deploy(self, release: Release) -> str:
        self.kept.setdefault(release.number, release)
        if self.at_once:
            self.switch(release)
        return f"memory/{release.number}"

    def health(self, release: Release) -> Health:
        if release.number not in self.kept:
            return Health(healthy=False, detail="it is not deployed")
        if release.artifact.sha256 in self.ill:
            return Health(healthy=False, instances=self.instances, detail="it is ill")
        return Health(healthy=True, instances=self.instances)

    def switch(self, release: Release) -> None:
        if self.live != release.number:
            self.live = release.number
            self.switches.append(release.number)

    def retire(self, release: Release) -> None:
        self.kept.pop(release.number, None)

    def scale(self, instances: int) -> None:
        self.instances = instances

    def restart(self) -> None:
        """Nothing here ever needs it."""

    def logs(self, release: Release, lines: int) -> str:
        return ""
