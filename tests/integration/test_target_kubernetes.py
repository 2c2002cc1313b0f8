"""A release on Kubernetes with the real kubectl, against a server on loopback that keeps what it is given."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from milepost.core.errors import TargetRefused
from milepost.core.shipping import SecretValue
from milepost.ship.targets import open_target
from milepost.ship.targets.manifests import of_release, of_traffic
from milepost.ship.targets.vendor import VendorTarget
from tests.fakes.kube_server import KubeServer, kube_server
from tests.live.installed import needed
from tests.tools import need
from tests.unit.ship.targets.samples import LABEL, release, spec

SPEC = spec(
    "kubernetes",
    domain="shop.example.org",
    instances=(2, 2),
    secrets=(("DB_URL", "PROD_DB_URL"),),
    options=(("registry", "registry.example/team"), ("context", "test"), ("namespace", "shop")),
)
VALUE = "postgres-of-the-shop-4711"
NAME = f"shop-{LABEL}"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[KubeServer, VendorTarget]]:
    """A cluster, and a target in it; images go nowhere."""
    need("kubectl")
    skopeo = tmp_path / "bin" / "skopeo"
    skopeo.parent.mkdir()
    skopeo.write_text("#!/bin/sh\n")
    skopeo.chmod(0o755)
    with kube_server(tmp_path) as (server, config):
        path = f"{skopeo.parent}{os.pathsep}{os.environ['PATH']}"
        environ = {"PATH": path, "HOME": str(tmp_path), "KUBECONFIG": str(config), "PROD_DB_URL": VALUE}
        yield server, open_target(SPEC, tmp_path / "handed-over", environ)


def test_a_release_is_deployed_switched_to_scaled_and_left_for_the_one_before_it(
    cluster: tuple[KubeServer, VendorTarget],
) -> None:
    server, target = cluster
    before, now = release(number=2), release(number=3)
    for each in (before, now, now):
        target.deploy(each)
    target.switch(now)
    target.scale(4)

    assert server.objects["Secret", NAME]["stringData"] == {"DB_URL": VALUE}
    assert server.objects["Service", "shop"]["spec"]["selector"]["milepost-release"] == LABEL
    assert target.health(now).instances == 4

    target.switch(before)
    target.retire(now)

    assert server.objects["Service", "shop"]["spec"]["selector"]["milepost-release"] == LABEL.replace("r3", "r2")
    assert [name for _, name in server.objects if name == NAME] == []
    assert target.health(now).detail == "it is not deployed"
    assert target.logs(before, 5).endswith("says hello\n")
    assert server.strange == []


def test_an_image_that_cannot_be_had_and_a_refused_account_are_told_in_a_line(
    cluster: tuple[KubeServer, VendorTarget],
) -> None:
    server, target = cluster
    server.ill = {"registry.example"}
    target.deploy(release())

    health = target.health(release())

    assert (health.healthy, health.settled) == (False, True)
    assert health.detail == f"{NAME}-x: ImagePullBackOff (Back-off pulling image)"
    server.refuse = 401
    with pytest.raises(TargetRefused, match="kubectl does not accept the credentials") as refused:
        target.deploy(release())
    assert VALUE not in refused.value.message and "\n" not in refused.value.message


def test_every_manifest_is_one_of_kubernetes_1_25_to_1_37(tmp_path: Path) -> None:
    python = needed("kubernetes-validate").with_name("python")
    ready = spec("kubernetes", **{field: getattr(SPEC, field) for field in ("domain", "secrets", "options")})
    both = [(SPEC, release()), (spec("kubernetes", instances=(2, 5), options=SPEC.options), release())]
    manifests = [each for one, it in [*both, (ready, release())] for each in of_release(one, it) + of_traffic(one, it)]
    file = tmp_path / "manifests.json"
    file.write_text(
        json.dumps(manifests, default=lambda value: value.variable if isinstance(value, SecretValue) else 0)
    )
    script = """
import json, sys, kubernetes_validate
for minor in range(25, 38):
    for manifest in json.load(open(sys.argv[1])):
        kubernetes_validate.validate(manifest, f"1.{minor}", strict=True)
wrong = dict(json.load(open(sys.argv[1]))[1]); wrong["spec"] = wrong["spec"] | {"replicas": "two"}
try:
    kubernetes_validate.validate(wrong, "1.37", strict=True)
except kubernetes_validate.ValidationError:
    print("looked")
"""

    ended = subprocess.run([python, "-c", script, file], capture_output=True, text=True)

    assert (ended.stdout, ended.stderr) == ("looked\n", "")
