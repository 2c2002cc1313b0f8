"""What gcloud and az are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from milepost.core.errors import TargetRefused
from milepost.core.shipping import ArtifactKind, SecretValue, VendorCommand
from milepost.ship.targets import azure, gcp
from milepost.ship.targets.pack import NOTHING, Pack
from tests.unit.ship.targets.samples import DIGEST, LABEL, argvs, play, release, requests, said, spec

RUN = spec(
    "gcp",
    region="europe-west1",
    instances=(1, 3),
    variables=(("MODE", "fast,@home"), ("LEVEL", "2")),
    secrets=(("DB_URL", "PROD_DB_URL"),),
    health_path="/health",
    options=(("registry", "europe-docker.pkg.dev/p/r"), ("project", "p")),
)
END = "--project p --quiet --format=json"
REVISION = f"gcloud run revisions describe shop-{LABEL} --region europe-west1 {END}"
SERVICE = f"gcloud run services describe shop --region europe-west1 {END}"
DEPLOY = (
    f"gcloud run deploy shop --image europe-docker.pkg.dev/p/r/shop@sha256:{DIGEST} --region europe-west1"
    f" --revision-suffix={LABEL} --port=8080 --memory=512Mi --cpu=1 --min-instances=1 --max-instances=3"
    " --startup-probe=httpGet.path=/health,httpGet.port=8080,periodSeconds=2,failureThreshold=30"
    " --set-env-vars=^|^MODE=fast,@home|LEVEL=2 --set-secrets=DB_URL=shop-prod-DB_URL:7 --no-allow-unauthenticated"
)
ABSENT = said(code=1, text="ERROR: (gcloud.run.revisions.describe) Cannot find revision [shop-r3]")

APP = spec(
    "azure",
    variables=(("MODE", "fast"),),
    secrets=(("DB_URL", "PROD_DB_URL"),),
    health_path="/health",
    options=(("resource_group", "shops"),),
)
OF = "--name shop --resource-group shops"
HELD = f"az webapp config appsettings list {OF}%s --query [?name=='MILEPOST_RELEASE'].value --output json"
IN_SLOT, IN_PRODUCTION = HELD % " --slot staging", HELD % ""
SET = f"az webapp config appsettings set {OF} --slot staging --settings @- --query [].name --output json"


def test_a_revision_is_made_without_traffic_and_with_its_own_version_of_each_secret() -> None:
    made, reference = play(
        gcp.deploy(RUN, release(), NOTHING),
        *(ABSENT, said({}), said(), said(code=1, text="NOT_FOUND: no such secret"), said({})),
        *(said({"name": "projects/1/secrets/shop-prod-DB_URL/versions/7"}), said({})),
    )

    assert reference == f"shop-{LABEL}"
    assert argvs(made) == [
        *(REVISION, SERVICE),
        f"skopeo copy --quiet --preserve-digests oci:/built/shop docker://europe-docker.pkg.dev/p/r/shop:{LABEL}",
        f"gcloud secrets describe shop-prod-DB_URL {END}",
        f"gcloud secrets create shop-prod-DB_URL --replication-policy=automatic {END}",
        f"gcloud secrets versions add shop-prod-DB_URL --data-file=- {END}",
        f"{DEPLOY} --no-traffic {END}",
    ]
    given = [step.stdin for step in made if isinstance(step, VendorCommand) and step.stdin is not None]
    assert given == [SecretValue(variable="PROD_DB_URL")]


def test_a_service_that_is_new_takes_the_traffic_as_it_must() -> None:
    plain = spec("gcp", region="europe-west1", options=(("registry", "r.example/p"), ("access", "public")))

    made, _ = play(gcp.deploy(plain, release(), NOTHING), ABSENT, ABSENT, said(), said({}))

    words = argvs(made)[-1]
    assert "--no-traffic" not in words
    assert "--clear-env-vars --clear-secrets --allow-unauthenticated" in words


def test_a_revision_that_is_there_is_not_made_again_and_one_with_the_traffic_is_left_alone() -> None:
    traffic = {"status": {"traffic": [{"revisionName": f"shop-{LABEL}", "percent": 100}]}}

    assert argvs(play(gcp.deploy(RUN, release(), NOTHING), said({}))[0]) == [REVISION]
    assert argvs(play(gcp.switch(RUN, release()), said(traffic))[0]) == [SERVICE]
    switched, _ = play(gcp.switch(RUN, release()), said({"status": {}}), said({}))
    assert argvs(switched)[1] == (
        f"gcloud run services update-traffic shop --region europe-west1 --to-revisions=shop-{LABEL}=100 {END}"
    )


def test_a_revision_goes_unless_it_has_the_traffic() -> None:
    traffic = {"status": {"traffic": [{"revisionName": f"shop-{LABEL}", "percent": 100}]}}
    gone, _ = play(gcp.retire(RUN, release()), said({}), said({"status": {}}), said({}))

    assert argvs(gone)[2] == f"gcloud run revisions delete shop-{LABEL} --region europe-west1 {END}"
    assert argvs(play(gcp.retire(RUN, release()), said({}), said(traffic))[0]) == [REVISION, SERVICE]


@pytest.mark.parametrize(
    ("ready", "healthy", "settled", "detail"),
    [
        ({"status": "True"}, True, True, ""),
        ({"status": "Unknown", "reason": "Deploying"}, False, False, "Deploying"),
        ({"status": "False", "message": "it does not listen on 8080"}, False, True, "it does not listen on 8080"),
    ],
)
def test_a_revision_is_well_when_it_is_ready(ready: dict[str, str], healthy: bool, settled: bool, detail: str) -> None:
    _, health = play(gcp.health(RUN, release()), said({"status": {"conditions": [{"type": "Ready"} | ready]}}))

    assert (health.healthy, health.settled, health.detail) == (healthy, settled, detail)


def test_logs_of_cloud_run_are_those_of_the_revision_the_oldest_first() -> None:
    made, text = play(gcp.logs(RUN, release(), 2), said([{"textPayload": "new"}, {"jsonPayload": {"message": "old"}}]))

    assert text == "old\nnew"
    assert f'revision_name="shop-{LABEL}" --limit=2 --order=desc' in argvs(made)[0]


def test_a_release_for_app_service_goes_to_the_slot_and_is_marked_when_it_is_whole() -> None:
    wheel, pack = release(ArtifactKind.WHEEL), Pack(made=Path("/out/shop-3.zip"))

    made, reference = play(azure.deploy(APP, wheel, pack), said(["r1-x"]), said(["r2-y"]), *[said([])] * 4)

    assert reference == LABEL
    assert argvs(made) == [
        *(IN_SLOT, IN_PRODUCTION, SET),
        f"az webapp config set {OF} --slot staging --startup-file shop --serve"
        ' --generic-configurations {"healthCheckPath": "/health"} --output json',
        f"az webapp deploy {OF} --slot staging --type zip --src-path /out/shop-3.zip --async false --output json",
        SET,
    ]
    settings = [step.stdin for step in made if isinstance(step, VendorCommand) and step.stdin is not None]
    assert settings == [
        [
            {"name": name, "value": value, "slotSetting": False}
            for name, value in [
                ("MILEPOST_RELEASE", "none yet"),
                ("SCM_DO_BUILD_DURING_DEPLOYMENT", "true"),
                ("MODE", "fast"),
                ("DB_URL", SecretValue(variable="PROD_DB_URL")),
            ]
        ],
        [{"name": "MILEPOST_RELEASE", "value": LABEL, "slotSetting": False}],
    ]


@pytest.mark.parametrize(
    ("slot", "production", "made"),
    [
        ([], [LABEL], [IN_PRODUCTION]),
        (
            [LABEL],
            ["r2-y"],
            [
                *(IN_PRODUCTION, IN_SLOT),
                f"az webapp deployment slot swap {OF} --slot staging --target-slot production --output json",
            ],
        ),
    ],
)
def test_the_slots_are_swapped_when_the_release_is_beside_production(slot: Any, production: Any, made: Any) -> None:
    replies = [said(production)] if production == [LABEL] else [said(production), said(slot), said({})]

    assert argvs(play(azure.switch(APP, release()), *replies)[0]) == made


def test_a_release_that_is_in_neither_slot_cannot_be_gone_back_to() -> None:
    with pytest.raises(TargetRefused, match="release 3 is in neither slot"):
        play(azure.switch(APP, release()), said(["r5-x"]), said(["r4-y"]))


@pytest.mark.parametrize(
    ("code", "healthy", "settled"), [(200, True, True), (302, True, True), (503, False, False), (404, False, True)]
)
def test_the_slot_itself_is_asked_whether_it_is_well(code: int, healthy: bool, settled: bool) -> None:
    app = {"state": "Running", "defaultHostName": "shop-staging.azurewebsites.net"}

    made, health = play(azure.health(APP, release()), said([LABEL]), said(app), said(code=code))

    assert requests(made) == [("GET", "https://shop-staging.azurewebsites.net/health", None)]
    assert (health.healthy, health.settled) == (healthy, settled)


def test_a_plan_is_scaled_by_its_id() -> None:
    made, _ = play(azure.scale(APP, 3), said({"appServicePlanId": "/subscriptions/1/plans/p"}), said({}))

    assert argvs(made)[1] == (
        "az appservice plan update --ids /subscriptions/1/plans/p --number-of-workers 3 --output json"
    )


def test_a_log_without_end_is_listened_to_for_a_while() -> None:
    _, text = play(azure.logs(APP, release(), 2), said([LABEL]), said(code=124, text="one\ntwo\nthree\n"))

    assert text == "two\nthree"
