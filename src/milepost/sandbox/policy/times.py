"""How long a command may take when nobody says: by the class of the slowest program in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from milepost.sandbox.command_risk import judged
from milepost.sandbox.command_risk.kinds import Piece
from milepost.sandbox.command_risk.options import options_of
from milepost.sandbox.policy.effects import effect_of

TimeClass = Literal["quick", "medium", "long", "background"]
SLOWER: tuple[TimeClass, ...] = ("quick", "medium", "long", "background")

_QUICK = frozenset(("rm", "cp", "mv", "mkdir", "rmdir", "touch", "ln", "chmod", "tee", "sed", "awk", "patch"))
_PATIENT = frozenset({"sleep", "wait", "read", "find", "du"})
_BUILDING = frozenset(
    ("cmake", "ninja", "bazel", "buck2", "mvn", "mvnw", "gradle", "gradlew", "sbt", "tox", "nox", "xcodebuild")
) | {"mutmut", "playwright", "cypress", "msbuild", "stack", "cabal", "nix", "nix-build", "buildah"}
_BUILDS = re.compile(
    r"(cargo (build|test|install|check|clippy|bench|run|doc)|(npm|pnpm|yarn|bun) (ci|install|i|add|update)|yarn$"
    r"|(pip3?|uv|poetry|pdm|pipenv|conda|mamba|gem|bundle|composer|brew|apt|apt-get|apk|dnf)( pip)? "
    r"(install|sync|add|lock|update|upgrade|compile)|(docker|podman) (compose )?(build|pull|push|buildx)"
    r"|go (build|test|install|mod download)|swift (build|test)|dotnet (build|restore|publish|test)"
    r"|mix (deps\.get|compile)|git (clone|fetch|pull|submodule|gc)|terraform init)\b"
)
_SERVING = frozenset({"uvicorn", "gunicorn", "hypercorn", "daphne", "nodemon", "watchexec", "entr", "redis-server"})
_SERVERS = re.compile(
    r"((npm|pnpm|yarn|bun)( run)? (dev|start|serve|watch|preview)|flask run|\S*manage\.py runserver|http\.server"
    r"|vite( dev)?|next (dev|start)|rails (s|server)|ng serve|webpack serve|jupyter (lab|notebook)|docker-compose up"
    r"|(docker|podman) compose up|streamlit run|mkdocs serve|hugo server|celery)(?: |$)"
)
_FOLLOWING = {"tail": ("-f", "-F", "--follow"), "docker": ("-f", "--follow"), "podman": ("-f", "--follow")}
_DETACHED = frozenset({"-d", "--detach"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Seconds for each class. What is in the background never ends by itself."""

    quick_s: float = 60.0
    medium_s: float = 600.0
    long_s: float = 1800.0
    background_s: float = 60.0

    def seconds_for(self, argv: Sequence[str]) -> float:
        """The seconds that a command may take."""
        by_class = {
            "quick": self.quick_s,
            "medium": self.medium_s,
            "long": self.long_s,
            "background": self.background_s,
        }
        return by_class[time_class(argv)]


def time_class(argv: Sequence[str]) -> TimeClass:
    """The class of a command: that of its slowest piece."""
    return _class_of(tuple(argv))


@lru_cache(maxsize=2048)
def _class_of(argv: tuple[str, ...]) -> TimeClass:
    pieces = [one.piece for one in judged(argv) if one.piece.words and not one.wraps]
    return max(map(_of_piece, pieces), key=SLOWER.index, default="medium")


def _of_piece(piece: Piece) -> TimeClass:
    options = options_of(piece.arguments)
    said = " ".join((piece.name, *options.rest))
    if piece.name in _SERVING or _serves(piece.name, said, options.flags):
        return "background"
    if piece.name in _BUILDING or _BUILDS.match(said):
        return "long"
    only_looks = effect_of(piece) == "safe" and piece.name not in _PATIENT
    return "quick" if only_looks or piece.name in _QUICK else "medium"


def _serves(name: str, said: str, flags: frozenset[str]) -> bool:
    if name in _FOLLOWING and not flags.isdisjoint(_FOLLOWING[name]):
        return True
    if "--watch" in flags or "--watchAll" in flags:
        return True
    return flags.isdisjoint(_DETACHED) and _SERVERS.match(said) is not None
