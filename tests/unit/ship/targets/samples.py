"""A release and a target to try vendors with, and a vendor whose replies are written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from milepost.core.shipping import (
    Artifact,
    ArtifactKind,
    Release,
    TargetSpec,
    VendorCommand,
    VendorReply,
    VendorRequest,
)
from milepost.ship.targets.vendor import Pause, Step, Steps

T = TypeVar("T")
DIGEST = "0123456789abcdef" * 4
LABEL = "r3-0123456789"


def release(kind: ArtifactKind = ArtifactKind.IMAGE, path: Path = Path("/built/shop"), number: int = 3) -> Release:
    artifact = Artifact(
        kind=kind,
        name="shop",
        version="1.2.0",
        path=path,
        sha256=DIGEST,
        size=1,
        tree="t" * 40,
        commit="c" * 40,
        start=() if kind is ArtifactKind.STATIC else ("shop", "--serve"),
    )
    return Release(target="prod", number=number, artifact=artifact)


def spec(kind: str, **others: Any) -> TargetSpec:
    return TargetSpec(**{"name": "prod", "kind": kind, "environment": "prod", "application": "shop", **others})


def said(answer: object = None, *, code: int = 0, text: str | None = None, retry: float | None = None) -> VendorReply:
    """A reply: of a client that ended with a code, or of a server with a status."""
    ok = code == 0 or 200 <= code < 300
    shown = text if text is not None else "" if answer is None else json.dumps(answer)
    return VendorReply(ok=ok, code=code, text=shown, answer=answer, retry_after_s=retry)


def play(steps: Steps[T], *replies: VendorReply) -> tuple[list[Step], T]:
    """The calls that were made when a vendor replied like this, and what came of them; pauses are not answered."""
    made: list[Step] = []
    left = list(replies)
    try:
        step = next(steps)
        while True:
            made.append(step)
            step = steps.send(said() if isinstance(step, Pause) else left.pop(0))
    except StopIteration as end:
        assert not left, f"{len(left)} replies were not asked for"
        return made, end.value


def argvs(made: list[Step]) -> list[str]:
    """Commands as they would be typed."""
    return [" ".join(step.argv) for step in made if isinstance(step, VendorCommand)]


def requests(made: list[Step]) -> list[tuple[str, str, object]]:
    return [(step.method, step.url, step.json) for step in made if isinstance(step, VendorRequest)]
