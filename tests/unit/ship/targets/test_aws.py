"""What Elastic Beanstalk is asked for, and in which order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from milepost.core.errors import TargetRefused
from milepost.core.shipping import ArtifactKind, SecretValue, VendorCommand, VendorReply
from milepost.ship.targets import aws
from milepost.ship.targets.pack import Pack
from tests.unit.ship.targets.samples import LABEL, argvs, play, release, requests, said, spec

SPEC = spec("aws", region="eu-west-1", variables=(("MODE", "fast"),), secrets=(("DB_URL", "PROD_DB_URL"),))
PACK = Pack(made=Path("/out/shop-3.zip"))
WHEEL = release(ArtifactKind.WHEEL)
EB = "aws --region eu-west-1 --output json elasticbeanstalk"
DESCRIBE = f"{EB} describe-environments --application-name shop --environment-names shop-prod --no-include-deleted"
UPDATE = (
    f"{EB} update-environment --application-name shop --environment-name shop-prod --version-label {LABEL}"
    " --option-settings file:///dev/stdin"
)
VERSIONS = f"{EB} describe-application-versions --application-name shop --version-labels {LABEL}"


def environment(
    version: str = "r2-old", status: str = "Ready", health: str = "Green", busy: bool = False
) -> VendorReply:
    seen = {"Status": status, "Health": health, "VersionLabel": version, "AbortableOperationInProgress": busy}
    return said({"Environments": [seen]})


def test_a_version_is_made_of_the_bundle_and_given_to_the_environment() -> None:
    none, bucket = said({"ApplicationVersions": []}), said({"S3Bucket": "store"})

    made, reference = play(
        aws.deploy(SPEC, WHEEL, PACK), environment(), none, bucket, said(), said({}), environment(), said({})
    )

    assert reference == LABEL
    assert argvs(made) == [
        *(DESCRIBE, VERSIONS, f"{EB} create-storage-location"),
        "aws --region eu-west-1 --output json s3 cp --only-show-errors /out/shop-3.zip"
        f" s3://store/milepost/shop/{LABEL}.zip",
        f"{EB} create-application-version --application-name shop --version-label {LABEL}"
        f" --source-bundle S3Bucket=store,S3Key=milepost/shop/{LABEL}.zip",
        *(DESCRIBE, UPDATE),
    ]
    assert isinstance(made[-1], VendorCommand)
    of_app = "aws:elasticbeanstalk:application:environment"
    assert made[-1].stdin == [
        {"Namespace": namespace, "OptionName": name, "Value": value}
        for namespace, name, value in [
            ("aws:elasticbeanstalk:command", "DeploymentPolicy", "Immutable"),
            ("aws:elasticbeanstalk:environment:process:default", "HealthCheckPath", "/"),
            ("aws:autoscaling:asg", "MinSize", "1"),
            ("aws:autoscaling:asg", "MaxSize", "1"),
            (of_app, "MODE", "fast"),
            (of_app, "DB_URL", SecretValue(variable="PROD_DB_URL")),
        ]
    ]


def test_a_release_that_the_environment_has_is_not_given_again() -> None:
    assert argvs(play(aws.deploy(SPEC, WHEEL, PACK), environment(LABEL))[0]) == [DESCRIBE]
    assert argvs(play(aws.switch(SPEC, WHEEL), environment(LABEL))[0]) == [DESCRIBE]


def test_a_rollback_ends_what_is_going_on_and_waits_until_the_version_is_there() -> None:
    there = said({"ApplicationVersions": [{"VersionLabel": LABEL}]})
    busy = environment(status="Updating", busy=True)

    made, _ = play(
        aws.switch(SPEC, WHEEL),
        *(
            busy,
            there,
            busy,
            said({}),
            busy,
            environment(),
            said({}),
            environment(LABEL, "Updating"),
            environment(LABEL),
        ),
    )

    abort = f"{EB} abort-environment-update --environment-name shop-prod"
    assert argvs(made) == [DESCRIBE, VERSIONS, DESCRIBE, abort, DESCRIBE, DESCRIBE, UPDATE, DESCRIBE, DESCRIBE]


@pytest.mark.parametrize(
    ("seen", "healthy", "settled", "detail"),
    [
        (environment(LABEL), True, True, "Ready, health Green"),
        (environment(LABEL, health="Red"), False, True, "Ready, health Red"),
        (environment(LABEL, health="Yellow"), False, False, "Ready, health Yellow"),
        (environment(LABEL, "Updating", "Grey"), False, False, "Updating, health Grey"),
        (environment("r2-old"), False, True, "the environment runs r2-old"),
    ],
)
def test_ready_is_not_healthy(seen: VendorReply, healthy: bool, settled: bool, detail: str) -> None:
    _, health = play(aws.health(SPEC, WHEEL), seen)

    assert (health.healthy, health.settled, health.detail) == (healthy, settled, detail)


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ({"Environments": []}, "aws has no environment 'shop-prod' of 'shop' in eu-west-1"),
        (
            {"Environments": [{"Health": "Green"}]},
            "aws answered in a shape that is not known: there is no Status in it",
        ),
        ({"Environments": "none"}, "aws answered in a shape that is not known: there is no Environments in it"),
    ],
)
def test_an_answer_that_does_not_fit_is_told_in_a_line(answer: Any, line: str) -> None:
    with pytest.raises(TargetRefused) as refused:
        play(aws.health(SPEC, WHEEL), said(answer))
    assert refused.value.message == line


def test_an_environment_that_stays_busy_is_given_up_after_a_while() -> None:
    busy = environment(status="Updating")

    with pytest.raises(TargetRefused, match="'shop-prod' was not ready within 600 s"):
        play(aws.scale(SPEC, 3), *[busy] * aws.LOOKS)


def test_a_version_goes_unless_the_environment_runs_it() -> None:
    there = said({"ApplicationVersions": [{"VersionLabel": LABEL}]})
    gone, _ = play(aws.retire(SPEC, WHEEL), environment(), there, said())

    named = f"--application-name shop --version-label {LABEL} --delete-source-bundle"
    assert argvs(gone) == [DESCRIBE, VERSIONS, f"{EB} delete-application-version {named}"]
    assert argvs(play(aws.retire(SPEC, WHEEL), environment(LABEL))[0]) == [DESCRIBE]


def test_logs_are_read_where_the_environment_put_them() -> None:
    ready = said({"EnvironmentInfo": [{"Message": "https://store.example/log?signed=1"}]})

    made, text = play(aws.logs(SPEC, WHEEL, 2), said({}), said({}), ready, said(text="one\ntwo\nthree"))

    assert text == "two\nthree"
    assert requests(made) == [("GET", "https://store.example/log?signed=1", None)]
