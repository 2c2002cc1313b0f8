"""A target that lives in this process: every promise of a target, and no machine."""

from __future__ import annotations

from milepost.core.errors import Misuse
from milepost.core.shipping import Artifact, Health, Release


class InMemoryTarget:
    """Runs nothing and forgets nothing. `fail` makes it ill; a restart or another release heals it."""

    def __init__(self) -> None:
        self._live: list[Release] = []
        self._newest = 0
        self._copies = 1
        self._illness = ""

    def deploy(self, artifact: Artifact) -> Release:
        """Make the artifact the live release, under a number that was never used before."""
        self._newest += 1
        release = Release(number=self._newest, artifact=artifact)
        self._live.append(release)
        self._illness = ""
        return release

    def health(self) -> Health:
        if not self._live:
            return Health(healthy=False, release=None, copies=0, detail="nothing is deployed")
        detail = self._illness or ("" if self._copies else "scaled to no copy")
        return Health(healthy=not detail, release=self._live[-1].number, copies=self._copies, detail=detail)

    def rollback(self) -> Release:
        """Make the release before the live one live again."""
        if len(self._live) < 2:
            raise Misuse("there is no release to go back to", "deploy twice before rolling back")
        self._live.pop()
        self._illness = ""
        return self._live[-1]

    def scale(self, copies: int) -> None:
        self._require_release("scaled")
        if copies < 0:
            raise Misuse(f"{copies!r} is no number of copies", "ask for 0 or more")
        self._copies = copies

    def restart(self) -> None:
        self._require_release("restarted")
        self._illness = ""

    def fail(self, detail: str) -> None:
        """Be ill from now on, for the reason given."""
        self._require_release("made ill")
        self._illness = detail

    def _require_release(self, verb: str) -> None:
        if not self._live:
            raise Misuse(f"nothing is deployed that could be {verb}", "deploy first")
