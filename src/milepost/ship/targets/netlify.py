"""Netlify, by documented requests: every release is a draft, and to publish one is to restore it."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from milepost.core.errors import TargetRefused
from milepost.core.shipping import ArtifactKind, Health, Release, TargetSpec, VendorRequest
from milepost.ship.targets.answers import Answer, ask, ask_if_there, tell
from milepost.ship.targets.pack import Pack
from milepost.ship.targets.vendor import ABSENT, Facts, Pause, Steps, gone, label

FACTS = Facts(takes=frozenset({ArtifactKind.STATIC}), options={}, packing="files")
BETWEEN_LOOKS_S = 2.0
LOOKS = 150
_AWAITED = frozenset(
    {"new", "pending_review", "accepted", "enqueued", "building", "uploading", "uploaded"}
) | frozenset({"preparing", "prepared", "processing", "processed"})


def deploy(spec: TargetSpec, release: Release, pack: Pack) -> Steps[str]:
    """One that was begun is gone on with: Netlify says which files it still lacks."""
    made = yield from _found(spec, release)
    if made is None:
        files = {f"/{file.address}": file.sha1 for file in pack.files}
        title = urlencode({"title": label(release)})
        wanted = {"files": files, "draft": True, "async": True}
        made = yield from ask(_request("POST", f"{_site(spec)}/deploys?{title}", json=wanted))
    reference = made.text("id")
    for _ in range(LOOKS):
        if made.text("state") not in ("new", "preparing"):
            break
        yield Pause(seconds=BETWEEN_LOOKS_S)
        made = yield from ask(_request("GET", f"/deploys/{reference}"))
    else:
        raise TargetRefused("api.netlify.com does not say which files it lacks", "deploy once more")
    lacking = {str(each.value) for each in made.each("required")}
    for file in {file.sha1: file for file in pack.files if file.sha1 in lacking}.values():
        path = f"/deploys/{reference}/files/{quote(file.address)}"
        yield from tell(VendorRequest(method="PUT", url=f"{_API}{path}", token_from=_SIGNED_IN_BY, body=file.path))
    return reference


def health(spec: TargetSpec, release: Release) -> Steps[Health]:
    made = yield from _found(spec, release)
    if made is None:
        return ABSENT
    state, reason = made.text("state"), made.maybe("error_message")
    return Health(
        healthy=state == "ready",
        settled=state not in _AWAITED,
        instances=1 if state == "ready" else 0,
        detail=f"{state}: {reason}" if reason else state,
    )


def switch(spec: TargetSpec, release: Release) -> Steps[None]:
    made = yield from _found(spec, release)
    if made is None:
        raise gone(spec, release)
    site = yield from ask(_request("GET", _site(spec)))
    if site.maybe("published_deploy", "id") != made.text("id"):
        yield from tell(_request("POST", f"{_site(spec)}/deploys/{made.text('id')}/restore"))


def retire(spec: TargetSpec, release: Release) -> Steps[None]:
    """Nothing of it runs. Netlify keeps it as long as the plan says."""
    yield from ()


def scale(spec: TargetSpec, instances: int) -> Steps[None]:
    yield from ()
    raise TargetRefused("netlify serves files: there are no instances to scale", "")


def restart(spec: TargetSpec) -> Steps[None]:
    yield from ()
    raise TargetRefused("netlify serves files: there is nothing to restart", "")


def logs(spec: TargetSpec, release: Release, lines: int) -> Steps[str]:
    """What it says of the deploy itself: of requests to files it keeps no log that can be asked for."""
    made = yield from _found(spec, release)
    return "" if made is None else f"{made.text('state')} {made.maybe('error_message')}".strip()


_API = "https://api.netlify.com/api/v1"
_SIGNED_IN_BY = "NETLIFY_AUTH_TOKEN"


def _request(method: str, path: str, json: object = None) -> VendorRequest:
    return VendorRequest(method=method, url=f"{_API}{path}", token_from=_SIGNED_IN_BY, json=json)


def _site(spec: TargetSpec) -> str:
    """By its domain: the one that is named, else the one that Netlify gives."""
    return f"/sites/{spec.domain or f'{spec.application}.netlify.app'}"


def _found(spec: TargetSpec, release: Release) -> Steps[Answer | None]:
    """The deploy with our title; one with an error is made anew."""
    found = yield from ask_if_there(_request("GET", f"{_site(spec)}/deploys?per_page=100"))
    if found is None:
        raise TargetRefused(
            f"netlify has no site {_site(spec).rpartition('/')[2]!r}", "create it once, or name its `domain`"
        )
    ours = [each for each in found.each() if each.maybe("title") == label(release)]
    return next((each for each in ours if each.text("state") != "error"), ours[0] if ours else None)
