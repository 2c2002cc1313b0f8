"""Vercel, by documented requests: a production deployment for each release, with no domain until it is promoted."""

from __future__ import annotations

from urllib.parse import urlencode

from milepost.core.errors import TargetRefused
from milepost.core.shipping import ArtifactKind, Health, Release, TargetSpec, VendorRequest
from milepost.ship.targets.answers import Answer, ask, ask_if_there, tell
from milepost.ship.targets.pack import Pack
from milepost.ship.targets.vendor import ABSENT, Facts, Pause, Steps, gone, label, option

FACTS = Facts(
    takes=frozenset({ArtifactKind.STATIC}),
    options={"team": "the id of your team, where the project is a team's"},
    packing="files",
)
BETWEEN_LOOKS_S = 2.0
LOOKS = 60
_SIGNED_IN_BY = "VERCEL_TOKEN"
_MARK = "milepostRelease"
_ENDED = frozenset({"READY", "ERROR", "CANCELED", "BLOCKED"})


def deploy(spec: TargetSpec, release: Release, pack: Pack) -> Steps[str]:
    """Files go first, each once by its digest; the deployment then names them."""
    found = yield from _found(spec, release)
    if found is not None:
        return found.text("uid")
    for file in {file.sha1: file for file in pack.files}.values():
        headers = (("x-vercel-digest", file.sha1), ("Content-Type", "application/octet-stream"))
        yield from tell(
            VendorRequest(
                method="POST",
                url=_url(spec, "/v2/files"),
                token_from=_SIGNED_IN_BY,
                headers=headers,
                body=file.path,
                repeatable=True,
            )
        )
    wanted = {
        "name": spec.application,
        "target": "production",
        "autoAssignCustomDomains": False,
        "files": [{"file": file.address, "sha": file.sha1, "size": file.size} for file in pack.files],
        "projectSettings": {"framework": None},
        "meta": {_MARK: label(release)},
    }
    made = yield from ask(_request(spec, "POST", "/v13/deployments", json=wanted, skipAutoDetectionConfirmation="1"))
    return made.text("id")


def health(spec: TargetSpec, release: Release) -> Steps[Health]:
    found = yield from _found(spec, release)
    if found is None:
        return ABSENT
    state = found.text("state")
    healthy = state == "READY"
    return Health(healthy=healthy, settled=state in _ENDED, instances=1 if healthy else 0, detail=state)


def switch(spec: TargetSpec, release: Release) -> Steps[None]:
    """Promotes what never had traffic, and goes back to what had: on a hobby plan that is one step and no more."""
    found = yield from _found(spec, release)
    if found is None:
        raise gone(spec, release)
    reference = found.text("uid")
    state = _of_traffic((yield from _project(spec)), reference)
    if state in ("", "failed", "skipped"):
        had_traffic = found.maybe("readySubstate") == "PROMOTED"
        version, verb = ("v1", "rollback") if had_traffic else ("v10", "promote")
        path = f"/{version}/projects/{spec.application}/{verb}/{reference}"
        yield from tell(_request(spec, "POST", path, json=None if had_traffic else {}), 409)
    for _ in range(LOOKS):
        if (state := _of_traffic((yield from _project(spec)), reference)) == "succeeded":
            return
        if state == "failed":
            break
        yield Pause(seconds=BETWEEN_LOOKS_S)
    raise TargetRefused(f"vercel has not given release {release.number} the traffic", "look at the project's domains")


def retire(spec: TargetSpec, release: Release) -> Steps[None]:
    """Nothing of it runs. Vercel keeps it as long as the project says."""
    yield from ()


def scale(spec: TargetSpec, instances: int) -> Steps[None]:
    yield from ()
    raise TargetRefused("vercel serves files: there are no instances to scale", "")


def restart(spec: TargetSpec) -> Steps[None]:
    yield from ()
    raise TargetRefused("vercel serves files: there is nothing to restart", "")


def logs(spec: TargetSpec, release: Release, lines: int) -> Steps[str]:
    """Those of the deployment itself."""
    found = yield from _found(spec, release)
    if found is None:
        return ""
    path = f"/v3/deployments/{found.text('uid')}/events"
    events = yield from ask(_request(spec, "GET", path, limit=str(lines), direction="backward"))
    return "\n".join(reversed([text for each in events.each() if (text := each.maybe("text"))]))


def _url(spec: TargetSpec, path: str, **query: str) -> str:
    asked = query | ({"teamId": option(spec, "team")} if option(spec, "team") else {})
    return f"https://api.vercel.com{path}" + (f"?{urlencode(asked)}" if asked else "")


def _request(spec: TargetSpec, method: str, path: str, *, json: object = None, **query: str) -> VendorRequest:
    return VendorRequest(method=method, url=_url(spec, path, **query), token_from=_SIGNED_IN_BY, json=json)


def _project(spec: TargetSpec) -> Steps[Answer]:
    return (yield from ask(_request(spec, "GET", f"/v9/projects/{spec.application}")))


def _found(spec: TargetSpec, release: Release) -> Steps[Answer | None]:
    """The newest deployment with our mark; there is none where there is no project yet."""
    asked = {"app": spec.application, "target": "production", "limit": "100", f"meta-{_MARK}": label(release)}
    found = yield from ask_if_there(_request(spec, "GET", "/v6/deployments", **asked))
    deployments = () if found is None else found.each("deployments")
    return next((each for each in deployments if each.maybe("meta", _MARK) == label(release)), None)


def _of_traffic(project: Answer, reference: str) -> str:
    """How far the project's last change of traffic is, if it was to this deployment; empty if it was to another."""
    if project.maybe("lastAliasRequest", "toDeploymentId") != reference:
        return ""
    return project.text("lastAliasRequest", "jobStatus")
