"""What kubectl is asked for, and how its answers are read."""

from __future__ import annotations

from typing import Any

import pytest

from milepost.core.errors import TargetRefused
from milepost.core.shipping import Health, SecretValue, VendorCommand
from milepost.ship.targets import kubernetes
from milepost.ship.targets.manifests import listed, of_release, of_traffic
from milepost.ship.targets.pack import NOTHING
from tests.unit.ship.targets.samples import DIGEST, LABEL, argvs, play, release, said, spec

SPEC = spec(
    "kubernetes",
    domain="shop.example.org",
    instances=(2, 4),
    variables=(("MODE", "fast"),),
    secrets=(("DB_URL", "PROD_DB_URL"),),
    health_path="/health",
    options=(("registry", "registry.example/team"), ("context", "prod"), ("namespace", "shop")),
)
AT = "kubectl --context prod --namespace shop"
APPLY = f"{AT} apply --server-side --force-conflicts --field-manager=milepost"
NAME = f"shop-{LABEL}"


def test_the_server_looks_at_everything_before_an_image_is_pushed_or_anything_made() -> None:
    made, reference = play(kubernetes.deploy(SPEC, release(), NOTHING), said(), said(), said())

    assert argvs(made) == [
        f"{APPLY} --dry-run=server --output=name --filename=-",
        "skopeo copy --quiet --preserve-digests oci:/built/shop docker://registry.example/team/shop:" + LABEL,
        f"{APPLY} --filename=-",
    ]
    assert reference == f"deployment/{NAME}"
    everything = of_release(SPEC, release()) + of_traffic(SPEC, release())
    kinds = ["Secret", "Deployment", "HorizontalPodAutoscaler", "PodDisruptionBudget", "Service", "Ingress"]
    assert [thing["kind"] for thing in everything] == kinds
    assert [step.stdin for step in made if isinstance(step, VendorCommand)] == [
        *(listed(everything), None, listed(of_release(SPEC, release())))
    ]


def test_a_release_has_a_deployment_of_its_own_that_is_healthy_before_it_is_used_and_loses_no_request() -> None:
    deployment = next(thing for thing in of_release(SPEC, release()) if thing["kind"] == "Deployment")

    labels = {
        "app.kubernetes.io/name": "shop",
        "app.kubernetes.io/managed-by": "milepost",
        "milepost-release": LABEL,
    }
    probe = {"httpGet": {"path": "/health", "port": "http"}}
    assert deployment == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": NAME, "labels": labels},
        "spec": {
            "replicas": 2,
            "progressDeadlineSeconds": 60,
            "selector": {"matchLabels": {"app.kubernetes.io/name": "shop", "milepost-release": LABEL}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "automountServiceAccountToken": False,
                    "terminationGracePeriodSeconds": 35,
                    "containers": [
                        {
                            "name": "app",
                            "image": f"registry.example/team/shop@sha256:{DIGEST}",
                            "ports": [{"name": "http", "containerPort": 8080}],
                            "env": [
                                {"name": "PORT", "value": "8080"},
                                {"name": "MODE", "value": "fast"},
                                {"name": "DB_URL", "valueFrom": {"secretKeyRef": {"name": NAME, "key": "DB_URL"}}},
                            ],
                            "readinessProbe": {**probe, "periodSeconds": 2, "failureThreshold": 2},
                            "livenessProbe": {
                                **probe,
                                "periodSeconds": 10,
                                "failureThreshold": 3,
                                "initialDelaySeconds": 60,
                            },
                            "lifecycle": {"preStop": {"exec": {"command": ["sleep", "5"]}}},
                            "resources": {
                                "requests": {"cpu": "250m", "memory": "256Mi"},
                                "limits": {"memory": "256Mi"},
                            },
                            "securityContext": {"allowPrivilegeEscalation": False},
                        }
                    ],
                },
            },
        },
    }


def test_a_secret_is_in_a_manifest_by_the_name_of_its_variable_alone() -> None:
    secret = of_release(SPEC, release())[0]

    assert secret["stringData"] == {"DB_URL": SecretValue(variable="PROD_DB_URL")}


def test_a_switch_names_the_release_in_the_service_and_touches_nothing_else() -> None:
    made, _ = play(kubernetes.switch(SPEC, release()), said({"kind": "Deployment"}), said())

    assert argvs(made) == [f"{AT} get deployment/{NAME} --output=json", f"{APPLY} --filename=-"]
    service, ingress = of_traffic(SPEC, release())
    assert isinstance(made[1], VendorCommand) and made[1].stdin == listed([service, ingress])
    assert service["spec"]["selector"] == {"app.kubernetes.io/name": "shop", "milepost-release": LABEL}
    assert ingress["spec"]["rules"][0]["host"] == "shop.example.org"


def test_no_traffic_is_led_to_a_release_that_is_gone() -> None:
    gone = said(code=1, text=f'Error from server (NotFound): deployments.apps "{NAME}" not found')

    with pytest.raises(TargetRefused, match="release 3 is not on 'prod' any more"):
        play(kubernetes.switch(SPEC, release()), gone)


def test_all_that_a_release_has_of_its_own_goes_with_it_and_the_service_stays() -> None:
    made, _ = play(kubernetes.retire(SPEC, release()), said())
    assert argvs(made)[0] == (
        f"{AT} delete deployments,horizontalpodautoscalers,poddisruptionbudgets,secrets"
        f" --selector=app.kubernetes.io/name=shop,milepost-release={LABEL} --ignore-not-found --wait=false"
    )


def test_the_live_deployment_is_scaled_by_its_autoscaler_where_it_has_one() -> None:
    live = said({"spec": {"selector": {"milepost-release": LABEL}}})
    fixed = spec("kubernetes", instances=(2, 2), options=(("registry", "r.example/x"),))

    by_itself, _ = play(kubernetes.scale(SPEC, 6), live, said())
    by_hand, _ = play(kubernetes.scale(fixed, 6), live, said())

    bounds = '{"spec":{"minReplicas":6,"maxReplicas":6}}'
    assert argvs(by_itself)[1] == f"{AT} patch horizontalpodautoscaler/{NAME} --type=merge --patch={bounds}"
    assert argvs(by_hand)[1] == f"kubectl scale deployment/{NAME} --replicas=6"


@pytest.mark.parametrize(
    ("status", "pod", "health"),
    [
        ({"readyReplicas": 2, "updatedReplicas": 2}, {}, Health(healthy=True, instances=2)),
        ({"readyReplicas": 1, "updatedReplicas": 2}, {}, (False, False, "1 of 2 are ready")),
        ({}, {"waiting": {"reason": "ContainerCreating"}}, (False, False, "0 of 2 are ready")),
        ({"observed": 1, "readyReplicas": 2, "updatedReplicas": 2}, {}, (False, False, "2 of 2 are ready")),
        (
            {"conditions": [{"type": "Progressing", "reason": "ProgressDeadlineExceeded", "message": "it timed out"}]},
            {},
            (False, True, "it timed out"),
        ),
        (
            {},
            {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}},
            (False, True, "shop-x: ImagePullBackOff (no such image)"),
        ),
        ({}, {"waiting": {"reason": "CrashLoopBackOff"}}, (False, True, "shop-x: CrashLoopBackOff")),
    ],
)
def test_health_is_read_from_the_deployment_and_what_ails_its_pods(
    status: dict[str, Any], pod: dict[str, Any], health: Any
) -> None:
    seen = status.pop("observed", 2)
    things = [
        {
            "kind": "Deployment",
            "metadata": {"generation": 2},
            "spec": {"replicas": 2},
            "status": status | {"observedGeneration": seen},
        },
        {
            "kind": "Pod",
            "metadata": {"name": "shop-x"},
            "status": {"containerStatuses": [{"restartCount": 4, "state": pod}]},
        },
    ]

    _, found = play(kubernetes.health(SPEC, release()), said({"items": things}))

    assert found == health if isinstance(health, Health) else (found.healthy, found.settled, found.detail) == health
