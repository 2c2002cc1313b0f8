"""Tries whether a test shows an incident: it has to be red on the bad release and green on the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from milepost.core.commands import CommandResult
from milepost.core.shipping import ArtifactKind
from milepost.engine.deploys.place import Place
from milepost.engine.records.releases import ReleaseRecord
from milepost.engine.verification.setup import VerificationSetup
from milepost.verify.command_runner import last_line
from milepost.watch.incident.reproduction import (
    RED,
    Asked,
    Setup,
    answers_in,
    expecting,
    first_asked,
    script,
    still_failing,
)
from milepost.watch.incident.requests import FailedKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """A test that was red and green as it has to be, or an empty one and why there is none."""

    script: str = ""
    why_not: str = ""


def reproduce(
    place: Place,
    ground: VerificationSetup,
    bad: ReleaseRecord,
    good: ReleaseRecord | None,
    kinds: Sequence[FailedKind],
    file: str,
) -> Reproduction:
    """Make a test of requests that failed, and run it on the trees of both releases, in the sandbox."""
    asked = first_asked(kinds)
    if good is None:
        return Reproduction(why_not=f"no release was live before release {bad.number}")
    if not asked:
        why = "no request that may be repeated as it was written down" if kinds else "no request"
        return Reproduction(why_not=f"{why} failed at release {bad.number}")
    if not bad.spec.command or {one.release.artifact.kind for one in (bad, good)} != {ArtifactKind.TREE}:
        return Reproduction(why_not="no `command` of its target says how the release is started from its files")
    setup = Setup(
        command=bad.spec.command,
        variables=tuple((name, ground.redact(value)) for name, value in bad.spec.variables),
        health_path=bad.spec.health_path,
        title=f"An incident of {place.target} ({place.environment})",
        bad=bad.number,
        good=good.number,
    )
    with ground.open_terminal() as sandbox:
        equipper = ground.outfitter(ground.brokered(sandbox))

        def run(record: ReleaseRecord, requests: Sequence[Asked]) -> CommandResult:
            with equipper.fitted(f"incident-{record.number}", record.release.artifact.commit) as (workspace, bench):
                test = workspace.folder / file
                test.parent.mkdir(parents=True, exist_ok=True)
                test.write_text(script(setup, requests), encoding="utf-8")
                return bench.run(("python3", file), workspace)

        on_good = run(good, asked)
        asked = expecting(asked, answers_in(on_good.stdout))
        if not asked:
            return Reproduction(
                why_not=f"release {good.number} does not answer these requests in the sandbox either{_said(on_good)}"
            )
        on_bad = run(bad, asked)
        tried, asked = asked, still_failing(asked, answers_in(on_bad.stdout))
        if on_bad.exit_code != RED or not asked:
            return Reproduction(
                why_not=f"release {bad.number} answers these requests well in the sandbox{_said(on_bad)}"
            )
        if not run(good, asked).succeeded:
            return Reproduction(why_not=f"release {good.number} answers these requests now well and now not")
        if asked != tried and run(bad, asked).exit_code != RED:
            return Reproduction(why_not=f"release {bad.number} fails these requests only now and then")
    return Reproduction(script=script(setup, asked))


def _said(result: CommandResult) -> str:
    """What a run said last, where it did not come to its answers."""
    told = last_line(result.error or result.stderr or result.stdout)
    return f": {told}" if told and not answers_in(result.stdout) else ""
