"""What an attempt of a program may take, and whom it may reach."""

from __future__ import annotations

from urllib.parse import urlsplit

from milepost.agents.programs.driver import ProgramSetup
from milepost.agents.programs.progress import ProgramLimits, ResumePoint

MAX_TURNS = 100


def bounds_of(setup: ProgramSetup, usd_left: float | None) -> ProgramLimits:
    """What an attempt may take: the narrower bound in money, its own or what the budget leaves."""
    turns = setup.max_turns or MAX_TURNS
    if usd_left is None or (setup.max_usd is not None and setup.max_usd < usd_left):
        return ProgramLimits(turns=turns, usd=setup.max_usd)
    return ProgramLimits(turns=turns, usd=usd_left, from_budget=True)


def hosts_of(base_url: str) -> tuple[str, ...]:
    """The host of an address, with its port where that is not the usual one."""
    if not base_url:
        return ()
    address = urlsplit(base_url)
    host = f"[{address.hostname}]" if ":" in (address.hostname or "") else address.hostname or ""
    host = "127.0.0.1" if host == "localhost" else host
    usual = address.port is None and not host.startswith("127.")
    port = address.port or (443 if address.scheme == "https" else 80)
    return (host,) if usual and port == 443 else (f"{host}:{port}",)


def usd_left(bounds: ProgramLimits, before: ResumePoint) -> float | None:
    """What is left of a bound in money after the runs of the program before."""
    return None if bounds.usd is None else max(0.0, bounds.usd - before.usage.cost_usd)
