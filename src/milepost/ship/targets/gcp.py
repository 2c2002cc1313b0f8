"""Cloud Run, by gcloud: a revision for each release, without traffic until it is switched to."""

from __future__ import annotations

from milepost.core.errors import TargetRefused
from milepost.core.shipping import ArtifactKind, Health, Release, SecretValue, TargetSpec, VendorCommand
from milepost.ship.targets.answers import Answer, ask, ask_if_there, tell
from milepost.ship.targets.images import DEFAULT_PORT, REGISTRY, image_reference, push_image
from milepost.ship.targets.pack import Pack
from milepost.ship.targets.vendor import ABSENT, Facts, Steps, label, option

FACTS = Facts(
    takes=frozenset({ArtifactKind.IMAGE}),
    options={
        "registry": REGISTRY + ": of Artifact Registry",
        "project": "without it that of your gcloud configuration",
        "memory": "what each instance may have (512Mi)",
        "cpu": "what each instance has (1)",
        "access": "`public` lets everybody call it; without it only who may",
    },
    required=("registry", "region"),
    name_is_label=True,
)


def gcloud(spec: TargetSpec, *words: str, stdin: object = None) -> VendorCommand:
    """The client puts the region before its host by itself; it asks no questions."""
    project = ("--project", option(spec, "project")) if option(spec, "project") else ()
    return VendorCommand(argv=("gcloud", *words, *project, "--quiet", "--format=json"), stdin=stdin)


def deploy(spec: TargetSpec, release: Release, _: Pack) -> Steps[str]:
    """A service that is new cannot be made without traffic; there is nobody yet to lose it."""
    if (yield from ask_if_there(_revision(spec, release))) is not None:
        return _name(spec, release)
    service = yield from ask_if_there(_service(spec))
    yield from tell(push_image(spec, release))
    secrets = []
    for name, variable in spec.secrets:
        version = yield from _keep_secret(spec, name, variable)
        secrets.append(f"{name}={_secret(spec, name)}:{version}")
    yield from tell(_deployed(spec, release, secrets, first=service is None))
    return _name(spec, release)


def health(spec: TargetSpec, release: Release) -> Steps[Health]:
    revision = yield from ask_if_there(_revision(spec, release))
    if revision is None:
        return ABSENT
    conditions = {each.text("type"): each for each in revision.each("status", "conditions")}
    if (ready := conditions.get("Ready")) is None:
        return Health(healthy=False, settled=False, detail="it is being made")
    status, message = ready.text("status"), ready.maybe("message") or ready.maybe("reason")
    healthy = status == "True"
    return Health(
        healthy=healthy,
        settled=status != "Unknown",
        instances=spec.instances[0] if healthy else 0,
        detail="" if healthy else message,
    )


def switch(spec: TargetSpec, release: Release) -> Steps[None]:
    service = yield from ask(_service(spec))
    if not _has_all(service, _name(spec, release)):
        where = ("--region", spec.region, f"--to-revisions={_name(spec, release)}=100")
        yield from tell(gcloud(spec, "run", "services", "update-traffic", spec.application, *where))


def retire(spec: TargetSpec, release: Release) -> Steps[None]:
    """The revision goes, which may keep instances, unless it has the traffic: then there was none to go back to."""
    if (yield from ask_if_there(_revision(spec, release))) is None:
        return
    if not _has_all((yield from ask(_service(spec))), _name(spec, release)):
        yield from tell(gcloud(spec, "run", "revisions", "delete", _name(spec, release), "--region", spec.region))


def scale(spec: TargetSpec, instances: int) -> Steps[None]:
    """At least so many, of the service and not of a revision: no new one is made. The most is the revision's."""
    least = f"--min={instances}"
    yield from tell(gcloud(spec, "run", "services", "update", spec.application, "--region", spec.region, least))


def restart(spec: TargetSpec) -> Steps[None]:
    yield from ()
    raise TargetRefused(
        "Cloud Run starts instances anew by itself, and restarts none when asked", "deploy the release once more"
    )


def logs(spec: TargetSpec, release: Release, lines: int) -> Steps[str]:
    chosen = (
        'resource.type="cloud_run_revision"'
        f' AND resource.labels.service_name="{spec.application}"'
        f' AND resource.labels.revision_name="{_name(spec, release)}"'
    )
    found = yield from ask(gcloud(spec, "logging", "read", chosen, f"--limit={lines}", "--order=desc"))
    texts = [each.maybe("textPayload") or each.maybe("jsonPayload", "message") for each in found.each()]
    return "\n".join(text for text in reversed(texts) if text)


def _name(spec: TargetSpec, release: Release) -> str:
    return f"{spec.application}-{label(release)}"


def _revision(spec: TargetSpec, release: Release) -> VendorCommand:
    return gcloud(spec, "run", "revisions", "describe", _name(spec, release), "--region", spec.region)


def _service(spec: TargetSpec) -> VendorCommand:
    return gcloud(spec, "run", "services", "describe", spec.application, "--region", spec.region)


def _deployed(spec: TargetSpec, release: Release, secrets: list[str], *, first: bool) -> VendorCommand:
    # A sign that none of the values has stands between them, as gcloud's own lists allow.
    variables = [f"{name}={value}" for name, value in spec.variables]
    between = next(sign for sign in "@|~^;!%\x1f" if not any(sign in each for each in variables) and sign != "^")
    port = spec.port or DEFAULT_PORT
    return gcloud(
        spec,
        *("run", "deploy", spec.application, "--image", image_reference(spec, release), "--region", spec.region),
        *(f"--revision-suffix={label(release)}", f"--port={port}"),
        *(f"--memory={option(spec, 'memory', '512Mi')}", f"--cpu={option(spec, 'cpu', '1')}"),
        *(f"--min-instances={spec.instances[0]}", f"--max-instances={spec.instances[1]}"),
        f"--startup-probe=httpGet.path={spec.health_path},httpGet.port={port},periodSeconds=2,failureThreshold="
        f"{max(3, round(spec.start_timeout_s / 2))}",
        *([f"--set-env-vars=^{between}^{between.join(variables)}"] if variables else ["--clear-env-vars"]),
        *([f"--set-secrets={','.join(secrets)}"] if secrets else ["--clear-secrets"]),
        *([f"--command={spec.command[0]}", f"--args={','.join(spec.command[1:])}"] if spec.command else []),
        "--allow-unauthenticated" if option(spec, "access") == "public" else "--no-allow-unauthenticated",
        *([] if first else ["--no-traffic"]),
    )


def _has_all(service: Answer, revision: str) -> bool:
    traffic = service.each("status", "traffic")
    return any(each.maybe("revisionName") == revision and each.number("percent") == 100 for each in traffic)


def _secret(spec: TargetSpec, name: str) -> str:
    return f"{spec.application}-{spec.environment}-{name}"


def _keep_secret(spec: TargetSpec, name: str, variable: str) -> Steps[str]:
    """A new version in Secret Manager; a release goes on using the one that it was deployed with."""
    known = yield from ask_if_there(gcloud(spec, "secrets", "describe", _secret(spec, name)))
    if known is None:
        made = gcloud(spec, "secrets", "create", _secret(spec, name), "--replication-policy=automatic")
        yield from tell(made)
    value = SecretValue(variable=variable)
    kept = yield from ask(gcloud(spec, "secrets", "versions", "add", _secret(spec, name), "--data-file=-", stdin=value))
    return kept.text("name").rpartition("/")[2]
