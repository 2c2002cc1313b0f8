"""Heroku, by documented requests, for its client uploads no source: a build for each release, live once it is built."""

from __future__ import annotations

from milepost.core.errors import TargetRefused
from milepost.core.shipping import ArtifactKind, Health, Release, SecretValue, TargetSpec, VendorRequest
from milepost.ship.targets.answers import Answer, ask, ask_if_there, tell
from milepost.ship.targets.pack import Pack
from milepost.ship.targets.vendor import ABSENT, Facts, Pause, Steps, gone, label

FACTS = Facts(takes=frozenset({ArtifactKind.WHEEL, ArtifactKind.NPM}), options={}, packing="tar.gz", at_once=True)
_SIGNED_IN_BY = "HEROKU_API_KEY"
_LATEST = ("Range", "version ..; order=desc,max=1")
BETWEEN_LOOKS_S = 2.0
LOOKS = 60
_UP, _GOING = "up", frozenset({"starting", "restarting"})


def deploy(spec: TargetSpec, release: Release, pack: Pack) -> Steps[str]:
    """Variables come first: a build is released with those that are there."""
    build = yield from _build(spec, release)
    if build is not None and build.text("status") != "failed":
        return build.text("id")
    if spec.variables or spec.secrets:
        values: dict[str, object] = dict(spec.variables)
        values |= {name: SecretValue(variable=variable) for name, variable in spec.secrets}
        yield from tell(_request("PATCH", f"{_app(spec)}/config-vars", json=values))
    source = yield from ask(_request("POST", f"{_app(spec)}/sources"))
    # The address is signed for a PUT without a type, and for nobody's account.
    put = VendorRequest(
        method="PUT", url=source.text("source_blob", "put_url"), headers=(("Content-Type", ""),), body=pack.archive
    )
    yield from tell(put)
    blob = {"url": source.text("source_blob", "get_url"), "version": label(release)}
    build = yield from ask(_request("POST", f"{_app(spec)}/builds", json={"source_blob": blob}))
    return build.text("id")


def health(spec: TargetSpec, release: Release) -> Steps[Health]:
    build = yield from _build(spec, release)
    if build is None:
        return ABSENT
    if (status := build.text("status")) != "succeeded":
        return Health(healthy=False, settled=status == "failed", detail=f"its build is {status}")
    if (yield from _latest(spec)).maybe("slug", "id") != build.maybe("slug", "id"):
        return Health(healthy=False, settled=False, detail="it is built, and another release is current")
    dynos = yield from ask(_request("GET", f"{_app(spec)}/dynos"))
    states = [dyno.text("state") for dyno in dynos.each() if dyno.maybe("type") == "web"]
    return Health(
        healthy=bool(states) and set(states) == {_UP},
        settled=bool(states) and not _GOING & set(states),
        instances=states.count(_UP),
        detail="" if set(states) == {_UP} else f"dynos: {', '.join(states) or 'none'}",
    )


def switch(spec: TargetSpec, release: Release) -> Steps[None]:
    """Nothing where it is current, as a build is at once; else back to it, with the variables that it had."""
    build = yield from _build(spec, release)
    if build is None or build.at("release", "id") is None:
        raise gone(spec, release)
    if (yield from _latest(spec)).maybe("slug", "id") == build.text("slug", "id"):
        return
    back = {"release": build.text("release", "id")}
    yield from tell(_request("POST", f"{_app(spec)}/releases", json=back))
    for _ in range(LOOKS):
        latest = yield from _latest(spec)
        if latest.maybe("slug", "id") == build.text("slug", "id") and latest.text("status") != "pending":
            return
        yield Pause(seconds=BETWEEN_LOOKS_S)
    raise TargetRefused(f"release {release.number} did not come back within {LOOKS * BETWEEN_LOOKS_S:.0f} s", "")


def retire(spec: TargetSpec, release: Release) -> Steps[None]:
    """Nothing of it runs once another release is current."""
    yield from ()


def scale(spec: TargetSpec, instances: int) -> Steps[None]:
    yield from tell(_request("PATCH", f"{_app(spec)}/formation/web", json={"quantity": instances}))


def restart(spec: TargetSpec) -> Steps[None]:
    yield from tell(_request("DELETE", f"{_app(spec)}/dynos"))


def logs(spec: TargetSpec, release: Release, lines: int) -> Steps[str]:
    session = yield from ask(_request("POST", f"{_app(spec)}/log-sessions", json={"lines": lines, "source": "app"}))
    reply = yield from tell(VendorRequest(method="GET", url=session.text("logplex_url")))
    return reply.text


def _app(spec: TargetSpec) -> str:
    return f"/apps/{spec.application}"


def _request(method: str, path: str, *headers: tuple[str, str], json: object = None) -> VendorRequest:
    return VendorRequest(
        method=method,
        url=f"https://api.heroku.com{path}",
        token_from=_SIGNED_IN_BY,
        headers=(("Accept", "application/vnd.heroku+json; version=3"), *headers),
        json=json,
    )


def _latest(spec: TargetSpec) -> Steps[Answer]:
    """The release that is current."""
    found = yield from ask(_request("GET", f"{_app(spec)}/releases", _LATEST))
    return next(iter(found.each()), Answer(of=found.of, value={}))


def _build(spec: TargetSpec, release: Release) -> Steps[Answer | None]:
    """The newest build of a source with our label."""
    newest = ("Range", "created_at ..; order=desc,max=200")
    found = yield from ask_if_there(_request("GET", f"{_app(spec)}/builds", newest))
    if found is None:
        raise TargetRefused(f"heroku has no app {spec.application!r}", "create it once: heroku create")
    return next((each for each in found.each() if each.maybe("source_blob", "version") == label(release)), None)
