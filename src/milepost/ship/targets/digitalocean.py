"""DigitalOcean App Platform, by documented requests: a deployment for each release, with traffic once it is healthy."""

from __future__ import annotations

import shlex
from typing import Any

from milepost.core.errors import SettingInvalid, TargetRefused
from milepost.core.shipping import ArtifactKind, Health, Release, SecretValue, TargetSpec, VendorRequest
from milepost.ship.targets.answers import Answer, ask, tell
from milepost.ship.targets.images import DEFAULT_PORT, REGISTRY, image_digest, image_name, push_image
from milepost.ship.targets.pack import Pack
from milepost.ship.targets.vendor import ABSENT, Facts, Pause, Steps, gone, label, option

FACTS = Facts(
    takes=frozenset({ArtifactKind.IMAGE}),
    options={
        "registry": REGISTRY + ": of DigitalOcean, Docker Hub or GitHub",
        "registry_credentials_from": "the variable that holds USER:TOKEN for a private one at Docker Hub or GitHub",
        "size": "the size of an instance (apps-s-1vcpu-0.5gb)",
    },
    required=("registry", "region"),
    name_is_label=True,
    at_once=True,
)
BETWEEN_LOOKS_S = 5.0
LOOKS = 120
_SIGNED_IN_BY = "DIGITALOCEAN_ACCESS_TOKEN"
_MARK = "MILEPOST_RELEASE"
_ENDED = frozenset({"ACTIVE", "SUPERSEDED", "ERROR", "CANCELED"})


def deploy(spec: TargetSpec, release: Release, __: Pack) -> Steps[str]:
    app = yield from _app(spec)
    if app is not None and (made := (yield from _deployment(app, release))) is not None:
        return made.text("id")
    yield from tell(push_image(spec, release))
    wanted = {"spec": app_spec(spec, release)}
    if app is None:
        app = (yield from ask(_request("POST", "/v2/apps", json=wanted))).at("app")
    else:
        yield from _unpin(app)
        app = (yield from ask(_request("PUT", f"/v2/apps/{app.text('id')}", json=wanted))).at("app")
    if app is None:
        raise TargetRefused("api.digitalocean.com answered in a shape that is not known: there is no app in it", "")
    for _ in range(LOOKS):
        if (made := (yield from _deployment(app, release))) is not None:
            return made.text("id")
        yield Pause(seconds=BETWEEN_LOOKS_S)
    raise TargetRefused("api.digitalocean.com has begun no deployment", "look at the app, then deploy once more")


def health(spec: TargetSpec, release: Release) -> Steps[Health]:
    app = yield from _app(spec)
    made = None if app is None else (yield from _deployment(app, release))
    if made is None:
        return ABSENT
    phase = made.text("phase")
    healthy = phase == "ACTIVE"
    reason = next((step.maybe("reason", "message") for step in made.each("progress", "steps") if step.at("reason")), "")
    return Health(
        healthy=healthy,
        settled=phase in _ENDED,
        instances=spec.instances[0] if healthy else 0,
        detail=f"{phase}: {reason}" if reason else phase,
    )


def switch(spec: TargetSpec, release: Release) -> Steps[None]:
    """Nothing where the platform gave it the traffic; else back to its deployment, which is not left pinned."""
    app = yield from _app(spec)
    made = None if app is None else (yield from _deployment(app, release))
    if app is None or made is None:
        raise gone(spec, release)
    if _is_of(release, app.at("active_deployment")):
        yield from _unpin(app)
        return
    yield from _unpin(app)
    path = f"/v2/apps/{app.text('id')}"
    back = {"deployment_id": made.text("id"), "skip_pin": True}
    checked = yield from ask(_request("POST", f"{path}/rollback/validate", json=back))
    if (valid := checked.at("valid")) is not None and valid.value is False:
        reason = checked.maybe("error", "message") or "it gives no reason"
        raise TargetRefused(f"digitalocean does not go back to release {release.number}: {reason}", "deploy it again")
    yield from tell(_request("POST", f"{path}/rollback", json=back))
    for _ in range(LOOKS):
        app = yield from _app(spec)
        if app is not None and _is_of(release, app.at("active_deployment")):
            return
        yield Pause(seconds=BETWEEN_LOOKS_S)
    raise TargetRefused(f"release {release.number} did not come back within {LOOKS * BETWEEN_LOOKS_S:.0f} s", "")


def retire(spec: TargetSpec, release: Release) -> Steps[None]:
    """Nothing of it runs once another deployment is active."""
    yield from ()


def scale(spec: TargetSpec, instances: int) -> Steps[None]:
    """The app's own spec with another number: the platform makes a deployment of it."""
    app = yield from _live(spec)
    wanted = app.at("spec")
    if wanted is None or not isinstance(wanted.value, dict):
        raise app.strange("spec")
    services = [service | {"instance_count": instances} for service in wanted.value.get("services", ())]
    yield from _unpin(app)
    changed = {"spec": wanted.value | {"services": services}}
    yield from tell(_request("PUT", f"/v2/apps/{app.text('id')}", json=changed))


def restart(spec: TargetSpec) -> Steps[None]:
    app = yield from _live(spec)
    yield from tell(_request("POST", f"/v2/apps/{app.text('id')}/restart", json={}))


def logs(spec: TargetSpec, release: Release, lines: int) -> Steps[str]:
    app = yield from _live(spec)
    made = yield from _deployment(app, release)
    if made is None:
        return ""
    path = f"/v2/apps/{app.text('id')}/deployments/{made.text('id')}/logs?type=RUN&follow=false"
    found = yield from ask(_request("GET", path))
    texts = []
    for address in [str(each.value) for each in found.each("historic_urls")] or [found.text("live_url")]:
        reply = yield from tell(VendorRequest(method="GET", url=address))
        texts += reply.text.splitlines()
    return "\n".join(texts[-lines:])


def app_spec(spec: TargetSpec, release: Release) -> dict[str, Any]:
    """The whole app as it is to be, with the release as a variable, by which its deployment is found."""
    plain = [{"key": name, "value": value, "scope": "RUN_TIME"} for name, value in spec.variables]
    hidden = [
        {"key": name, "value": SecretValue(variable=variable), "scope": "RUN_TIME", "type": "SECRET"}
        for name, variable in spec.secrets
    ]
    service = {
        "name": spec.application,
        "image": _image(spec, release),
        "http_port": spec.port or DEFAULT_PORT,
        "instance_count": spec.instances[0],
        "instance_size_slug": option(spec, "size", "apps-s-1vcpu-0.5gb"),
        "health_check": {"http_path": spec.health_path},
        "envs": [{"key": _MARK, "value": label(release), "scope": "RUN_TIME"}, *plain, *hidden],
        **({"run_command": shlex.join(spec.command)} if spec.command else {}),
    }
    domains = {"domains": [{"domain": spec.domain, "type": "PRIMARY"}]} if spec.domain else {}
    return {"name": spec.application, "region": spec.region, "services": [service], **domains}


def _image(spec: TargetSpec, release: Release) -> dict[str, Any]:
    host, _, rest = image_name(spec).partition("/")
    folder, _, repository = rest.rpartition("/")
    digest = {"repository": repository, "digest": image_digest(release)}
    match host:
        case "registry.digitalocean.com":
            return {"registry_type": "DOCR", **digest}
        case "ghcr.io":
            return {"registry_type": "GHCR", "registry": folder, **digest, **_credentials(spec)}
        case "docker.io":
            return {"registry_type": "DOCKER_HUB", "registry": folder, **digest, **_credentials(spec)}
    raise SettingInvalid(
        f"digitalocean takes no images from {host!r}",
        "name a registry of registry.digitalocean.com, ghcr.io or docker.io",
    )


def _credentials(spec: TargetSpec) -> dict[str, Any]:
    variable = option(spec, "registry_credentials_from")
    return {"registry_credentials": SecretValue(variable=variable)} if variable else {}


def _request(method: str, path: str, json: object = None) -> VendorRequest:
    address = f"https://api.digitalocean.com{path}"
    return VendorRequest(method=method, url=address, token_from=_SIGNED_IN_BY, json=json)


def _app(spec: TargetSpec) -> Steps[Answer | None]:
    found = yield from ask(_request("GET", "/v2/apps?per_page=200"))
    return next((app for app in found.each("apps") if app.maybe("spec", "name") == spec.application), None)


def _live(spec: TargetSpec) -> Steps[Answer]:
    app = yield from _app(spec)
    if app is None:
        raise TargetRefused(f"digitalocean has no app {spec.application!r}", "deploy something first")
    return app


def _deployment(app: Answer, release: Release) -> Steps[Answer | None]:
    """The newest deployment of a release: that of a rollback to it has the same spec."""
    found = yield from ask(_request("GET", f"/v2/apps/{app.text('id')}/deployments?per_page=50"))
    return next((each for each in found.each("deployments") if _is_of(release, each)), None)


def _is_of(release: Release, deployment: Answer | None) -> bool:
    if deployment is None:
        return False
    variables = [env for service in deployment.each("spec", "services") for env in service.each("envs")]
    return any(env.maybe("key") == _MARK and env.maybe("value") == label(release) for env in variables)


def _unpin(app: Answer) -> Steps[None]:
    """After a rollback by hand an app takes no deployment until that is committed."""
    if app.at("pinned_deployment") is not None:
        yield from tell(_request("POST", f"/v2/apps/{app.text('id')}/rollback/commit"))
