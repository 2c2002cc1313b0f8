"""Elastic Beanstalk, by the aws client: an application version for each release, on an environment that is there."""

from __future__ import annotations

from typing import Any

from milepost.core.errors import TargetRefused
from milepost.core.shipping import ArtifactKind, Health, Release, SecretValue, TargetSpec, VendorCommand, VendorRequest
from milepost.ship.targets.answers import Answer, ask, tell
from milepost.ship.targets.images import REGISTRY, push_image
from milepost.ship.targets.pack import Pack
from milepost.ship.targets.vendor import Facts, Pause, Steps, gone, label, option

FACTS = Facts(
    takes=frozenset({ArtifactKind.WHEEL, ArtifactKind.NPM, ArtifactKind.IMAGE}),
    options={
        "environment_name": "the environment of Elastic Beanstalk (APPLICATION-ENVIRONMENT)",
        "profile": "a profile of your aws configuration; without it the usual one",
        "registry": REGISTRY + "; for an image",
    },
    required=("region",),
    packing="zip",
    name_is_label=True,
    at_once=True,
)
BETWEEN_LOOKS_S = 10.0
LOOKS = 60
_ABORTABLE = ("Updating",)


def eb(spec: TargetSpec, *words: str, stdin: object = None) -> VendorCommand:
    return _aws(spec, "elasticbeanstalk", *words, stdin=stdin)


def deploy(spec: TargetSpec, release: Release, pack: Pack) -> Steps[str]:
    """The health of the instances decides before the old ones go: the update replaces all of them."""
    environment = yield from _environment(spec)
    if environment.maybe("VersionLabel") == label(release):
        return label(release)
    if not (yield from _has_version(spec, release)):
        if release.artifact.kind is ArtifactKind.IMAGE:
            yield from tell(push_image(spec, release))
        bucket = (yield from ask(eb(spec, "create-storage-location"))).text("S3Bucket")
        key = f"milepost/{spec.application}/{label(release)}.zip"
        yield from tell(_aws(spec, "s3", "cp", "--only-show-errors", str(pack.archive), f"s3://{bucket}/{key}"))
        yield from tell(
            eb(
                spec,
                "create-application-version",
                *("--application-name", spec.application, "--version-label", label(release)),
                *("--source-bundle", f"S3Bucket={bucket},S3Key={key}"),
            )
        )
    yield from _update(spec, label(release))
    return label(release)


def health(spec: TargetSpec, release: Release) -> Steps[Health]:
    environment = yield from _environment(spec)
    status, colour = environment.text("Status"), environment.text("Health")
    detail = f"{status}, health {colour} {environment.maybe('HealthStatus')}".strip()
    if status != "Ready":
        return Health(healthy=False, settled=status in ("Terminating", "Terminated"), detail=detail)
    if environment.maybe("VersionLabel") != label(release):
        return Health(healthy=False, detail=f"the environment runs {environment.maybe('VersionLabel') or 'nothing'}")
    return Health(
        healthy=colour == "Green", settled=colour in ("Green", "Red"), instances=spec.instances[0], detail=detail
    )


def switch(spec: TargetSpec, release: Release) -> Steps[None]:
    """Nothing where the environment has the release already, which gave it the traffic; else back to its version."""
    environment = yield from _environment(spec)
    if environment.maybe("VersionLabel") != label(release):
        if not (yield from _has_version(spec, release)):
            raise gone(spec, release)
        yield from _update(spec, label(release))
        yield from _until_ready(spec)


def retire(spec: TargetSpec, release: Release) -> Steps[None]:
    """The version goes, unless the environment runs it: then there was none to go back to."""
    live = (yield from _environment(spec)).maybe("VersionLabel") == label(release)
    if live or not (yield from _has_version(spec, release)):
        return
    yield from tell(
        eb(
            spec,
            "delete-application-version",
            *("--application-name", spec.application, "--version-label", label(release), "--delete-source-bundle"),
        )
    )


def scale(spec: TargetSpec, instances: int) -> Steps[None]:
    yield from _until_ready(spec)
    most = max(instances, spec.instances[1])
    yield from tell(_change(spec, _sizes(instances, most)))


def restart(spec: TargetSpec) -> Steps[None]:
    yield from _until_ready(spec)
    yield from tell(eb(spec, "restart-app-server", "--environment-name", _name(spec)))


def logs(spec: TargetSpec, release: Release, lines: int) -> Steps[str]:
    """The environment gathers the ends of its logs, and says where they can be read."""
    named = ("--environment-name", _name(spec), "--info-type", "tail")
    yield from tell(eb(spec, "request-environment-info", *named))
    for _ in range(LOOKS):
        found = yield from ask(eb(spec, "retrieve-environment-info", *named))
        if addresses := [each.text("Message") for each in found.each("EnvironmentInfo")]:
            texts = []
            for address in addresses:
                reply = yield from tell(VendorRequest(method="GET", url=address))
                texts += reply.text.splitlines()[-lines:]
            return "\n".join(texts)
        yield Pause(seconds=BETWEEN_LOOKS_S)
    raise TargetRefused("aws has gathered no logs", "try again")


def _change(spec: TargetSpec, settings: list[dict[str, Any]], *words: str) -> VendorCommand:
    """The only parameter that the client reads from a pipe once is a list of settings."""
    of = ("--application-name", spec.application, "--environment-name", _name(spec))
    return eb(spec, "update-environment", *of, *words, "--option-settings", "file:///dev/stdin", stdin=settings)


def _aws(spec: TargetSpec, *words: str, stdin: object = None) -> VendorCommand:
    profile = ("--profile", option(spec, "profile")) if option(spec, "profile") else ()
    return VendorCommand(
        argv=("aws", "--region", spec.region, "--output", "json", *profile, *words),
        environment=(("AWS_PAGER", ""),),
        stdin=stdin,
    )


def _name(spec: TargetSpec) -> str:
    return option(spec, "environment_name", f"{spec.application}-{spec.environment}")


def _environment(spec: TargetSpec) -> Steps[Answer]:
    found = yield from ask(
        eb(
            spec,
            "describe-environments",
            *("--application-name", spec.application, "--environment-names", _name(spec), "--no-include-deleted"),
        )
    )
    environments = found.each("Environments")
    if not environments:
        raise TargetRefused(
            f"aws has no environment {_name(spec)!r} of {spec.application!r} in {spec.region}",
            "create it once: aws elasticbeanstalk create-environment, with the platform that you want",
        )
    return environments[0]


def _has_version(spec: TargetSpec, release: Release) -> Steps[bool]:
    named = ("--application-name", spec.application, "--version-labels", label(release))
    found = yield from ask(eb(spec, "describe-application-versions", *named))
    return bool(found.each("ApplicationVersions"))


def _until_ready(spec: TargetSpec) -> Steps[None]:
    """An environment that is being changed takes no other change: one of somebody else's is ended."""
    aborted = False
    for _ in range(LOOKS):
        environment = yield from _environment(spec)
        if (status := environment.text("Status")) == "Ready":
            return
        abortable = environment.at("AbortableOperationInProgress")
        if status in _ABORTABLE and abortable is not None and abortable.value is True and not aborted:
            yield from tell(eb(spec, "abort-environment-update", "--environment-name", _name(spec)))
            aborted = True
        yield Pause(seconds=BETWEEN_LOOKS_S)
    raise TargetRefused(
        f"the environment {_name(spec)!r} was not ready within {LOOKS * BETWEEN_LOOKS_S:.0f} s", "look at its events"
    )


def _update(spec: TargetSpec, version: str) -> Steps[None]:
    yield from _until_ready(spec)
    values: dict[str, str | SecretValue] = dict(spec.variables)
    values |= {name: SecretValue(variable=variable) for name, variable in spec.secrets}
    settings = [
        _setting("aws:elasticbeanstalk:command", "DeploymentPolicy", "Immutable"),
        _setting("aws:elasticbeanstalk:environment:process:default", "HealthCheckPath", spec.health_path),
        *_sizes(*spec.instances),
        *(_setting("aws:elasticbeanstalk:application:environment", name, value) for name, value in values.items()),
    ]
    yield from tell(_change(spec, settings, "--version-label", version))


def _sizes(least: int, most: int) -> list[dict[str, Any]]:
    group = "aws:autoscaling:asg"
    return [_setting(group, "MinSize", str(least)), _setting(group, "MaxSize", str(most))]


def _setting(namespace: str, name: str, value: str | SecretValue) -> dict[str, Any]:
    return {"Namespace": namespace, "OptionName": name, "Value": value}
