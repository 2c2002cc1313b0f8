"""Which attempts a lesson is held out of, so that its effect is measured and not guessed."""

from __future__ import annotations

import hashlib

from milepost.core.memories import Arm


def arm_of(lesson: str, episode: str, share: float) -> Arm:
    """Whether an attempt is told a lesson that fits it: by a hash, so that it is the same after a crash."""
    digest = hashlib.sha256(f"{lesson}\0{episode}".encode("utf-8", "backslashreplace")).digest()
    return "held_out" if int.from_bytes(digest[:8], "big") / 2**64 < share else "shown"
