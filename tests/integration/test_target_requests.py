"""Vendors that are asked by documented requests: each request is held to what the vendor documents."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from milepost.core.errors import TargetRefused
from milepost.core.shipping import ArtifactKind, Release
from milepost.ship.targets import open_target
from milepost.ship.targets.vendor import VendorTarget
from milepost.ship.vendor_shell import VendorShell
from tests.fakes.clouds import DigitalOcean, Heroku, Netlify, Vercel
from tests.fakes.contracts import DIGITALOCEAN, HEROKU, NETLIFY, VERCEL
from tests.fakes.vendor_server import VendorServer, vendor_server
from tests.unit.ship.targets.samples import release, spec

TOKEN = "token-of-the-user-0815"
VALUE = "postgres-of-the-shop-4711"
SECRETS = (("DB_URL", "PROD_DB_URL"),)
KINDS: dict[str, tuple[Any, Any, dict[str, Any], ArtifactKind]] = {
    "netlify": (Netlify, NETLIFY, {}, ArtifactKind.STATIC),
    "digitalocean": (
        DigitalOcean,
        DIGITALOCEAN,
        {"region": "ams", "secrets": SECRETS, "options": (("registry", "ghcr.io/team"),)},
        ArtifactKind.IMAGE,
    ),
    "heroku": (Heroku, HEROKU, {"secrets": SECRETS, "variables": (("MODE", "fast"),)}, ArtifactKind.WHEEL),
    "vercel": (Vercel, VERCEL, {"options": (("team", "team_1"),)}, ArtifactKind.STATIC),
}


@dataclass
class Stage:
    cloud: Any
    server: VendorServer
    target: VendorTarget
    kind: ArtifactKind
    path: Path
    paused: list[float] = field(default_factory=list)

    def release(self, number: int) -> Release:
        return release(self.kind, self.path, number)


@pytest.fixture(params=KINDS)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    cloud_of, contract, settings, kind = KINDS[request.param]
    path = tmp_path / "shop-1.2.0-py3-none-any.whl"
    if kind is ArtifactKind.STATIC:
        (path / "assets").mkdir(parents=True)
        (path / "index.html").write_text("<h1>shop</h1>")
        (path / "assets" / "ä b.css").write_text("h1 {}")
        (path / "copy.html").write_text("<h1>shop</h1>")
    else:
        path.write_bytes(b"a wheel")
    skopeo = tmp_path / "bin" / "skopeo"
    skopeo.parent.mkdir()
    skopeo.write_text("#!/bin/sh\n")
    skopeo.chmod(0o755)
    with vendor_server(contract) as server:
        server.answers = cloud = cloud_of()
        environ = {"PATH": f"{skopeo.parent}:/usr/bin:/bin", cloud.variable: TOKEN, "PROD_DB_URL": VALUE}
        paused: list[float] = []
        shell = VendorShell(environ, tmp_path, pause=paused.append, addresses={cloud.origin: server.address})
        target = open_target(spec(request.param, **settings), tmp_path / "handed-over", environ, shell=shell)
        yield Stage(cloud, server, target, kind, path, paused)


def test_a_release_is_deployed_once_switched_to_and_left_for_the_one_before_it(stage: Stage) -> None:
    target, before, now = stage.target, stage.release(2), stage.release(3)
    target.deploy(before)
    target.switch(before)

    assert target.deploy(now) == target.deploy(now)
    assert target.health(now).healthy
    for each in (now, now, before, before):
        target.switch(each)
        assert stage.cloud.live().startswith(f"r{each.number}-")

    made = [asked for asked in stage.server.asked if asked.method == "POST"]
    deployed = [asked for asked in made if asked.path.endswith(("/deploys", "/v2/apps", "/builds", "/v13/deployments"))]
    assert (
        len(deployed) + [asked.method for asked in stage.server.asked if asked.path == "/v2/apps/a"].count("PUT") == 2
    )
    assert stage.server.strange == []
    assert not stage.target.health(stage.release(9)).healthy


def test_a_deploy_that_is_stuck_says_so_and_is_not_given_up_by_the_target(stage: Stage) -> None:
    stage.target.deploy(stage.release(2))
    stage.cloud.stuck = True
    stage.target.deploy(stage.release(3))

    health = stage.target.health(stage.release(3))

    assert (health.healthy, health.settled) == (False, False)
    assert health.detail in ("processing", "BUILDING", "its build is pending")


@pytest.mark.parametrize(
    ("status", "said", "headers", "line", "sent"),
    [
        (401, {"message": "Unauthorized"}, {}, "does not accept the credentials", 1),
        (403, {"message": "Forbidden"}, {}, "does not accept the credentials", 1),
        (402, {"message": "a card is needed"}, {}, "refuses because of a quota", 1),
        (429, {}, {"Retry-After": "3600"}, "takes no more requests for 3600 s", 1),
        (503, {"message": "down"}, {}, "fails at the moment (503)", 4),
        (200, "<html>maintenance</html>", {}, "answered in a shape that is not known", 1),
        (200, {"apps": 3, "deployments": 3}, {}, "answered in a shape that is not known", 1),
        ("cut", {}, {}, "was cut", 4),
    ],
)
def test_a_bad_day_is_told_in_one_line_that_holds_no_secret(
    status: Any, said: Any, headers: dict[str, str], line: str, sent: int, stage: Stage
) -> None:
    first: dict[str, str] = {
        "netlify": "/api/v1/sites/shop.netlify.app/deploys",
        "digitalocean": "/v2/apps",
        "heroku": "/apps/shop/builds",
        "vercel": "/v6/deployments",
    }
    path = first[type(stage.cloud).__name__.lower()]
    stage.server.script(*[("GET", path, status, said, headers)] * sent)

    with pytest.raises(TargetRefused) as refused:
        stage.target.deploy(stage.release(3))

    assert line in refused.value.message and "\n" not in refused.value.message
    assert TOKEN not in refused.value.message + refused.value.advice
    assert len(stage.server.asked) == sent
    assert all(asked.method == "GET" for asked in stage.server.asked)


@pytest.mark.parametrize("stage", ["digitalocean"], indirect=True)
def test_a_rollback_by_hand_is_committed_before_anything_is_deployed(stage: Stage) -> None:
    stage.target.deploy(stage.release(2))
    stage.cloud.pinned = True

    stage.target.deploy(stage.release(3))

    assert stage.cloud.live().startswith("r3-") and not stage.cloud.pinned


@pytest.mark.parametrize("stage", ["digitalocean"], indirect=True)
def test_what_a_vendor_says_is_shown_without_secrets_and_without_signs_for_a_terminal(stage: Stage) -> None:
    for number in (2, 3):
        stage.target.deploy(stage.release(number))
    no = {"valid": False, "error": {"message": f"\x1b[31mno\x1b[0m, because of {VALUE} and {TOKEN}"}}
    stage.server.script(("POST", "/v2/apps/a/rollback/validate", 200, no))

    with pytest.raises(TargetRefused) as refused:
        stage.target.switch(stage.release(2))

    assert refused.value.message == "digitalocean does not go back to release 2: no, because of [secret] and [secret]"


@pytest.mark.parametrize("stage", ["vercel"], indirect=True)
def test_what_never_had_traffic_is_promoted_and_what_had_it_is_gone_back_to(stage: Stage) -> None:
    for number in (2, 3):
        stage.target.deploy(stage.release(number))
        stage.target.switch(stage.release(number))
    stage.target.switch(stage.release(2))

    assert stage.cloud.changes == ["promote", "promote", "rollback"]


@pytest.mark.parametrize("stage", ["netlify"], indirect=True)
def test_an_upload_to_netlify_that_was_cut_is_gone_on_with(stage: Stage) -> None:
    path = "/api/v1/deploys/d0/files/assets/%C3%A4%20b.css"
    stage.server.script(*[("PUT", path, "cut", {})] * 4)
    with pytest.raises(TargetRefused, match=r"the connection to api\.netlify\.com was cut"):
        stage.target.deploy(stage.release(3))

    stage.target.deploy(stage.release(3))

    assert len(stage.cloud.deploys) == 1 and stage.target.health(stage.release(3)).healthy
    sent = [asked.path.rpartition("/")[2] for asked in stage.server.asked if asked.method == "PUT" and asked.body]
    assert sorted(sent) == ["%C3%A4%20b.css", "index.html"], "the same content is sent once"


@pytest.mark.parametrize("stage", ["heroku"], indirect=True)
def test_source_for_heroku_is_a_few_files_and_its_variables_are_there_before_it(stage: Stage) -> None:
    stage.target.deploy(stage.release(3))

    (uploaded,) = stage.cloud.uploaded
    with tarfile.open(fileobj=io.BytesIO(uploaded)) as archive:
        assert archive.getnames() == ["Procfile", "requirements.txt", "shop-1.2.0-py3-none-any.whl"]
    assert stage.cloud.variables == {"MODE": "fast", "DB_URL": VALUE}
    changing = [asked.path for asked in stage.server.asked if asked.method != "GET"]
    assert changing == ["/apps/shop/config-vars", "/apps/shop/sources", "/signed/1", "/apps/shop/builds"]
