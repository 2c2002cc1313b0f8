"""Who an agent is to git, when it commits in its own checkout."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

GIT_IDENTITY: Mapping[str, str] = MappingProxyType(
    {
        "GIT_AUTHOR_NAME": "Milepost agent",
        "GIT_AUTHOR_EMAIL": "agent@milepost.invalid",
        "GIT_COMMITTER_NAME": "Milepost agent",
        "GIT_COMMITTER_EMAIL": "agent@milepost.invalid",
    }
)
