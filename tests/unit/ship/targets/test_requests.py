"""What App Platform, Heroku, Vercel and Netlify are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from milepost.core.errors import SettingInvalid, TargetRefused
from milepost.core.shipping import ArtifactKind, SecretValue, VendorReply
from milepost.ship.targets import digitalocean, heroku, netlify, vercel
from milepost.ship.targets.pack import Pack, PackedFile
from tests.unit.ship.targets.samples import DIGEST, LABEL, play, release, requests, said, spec

SITE = Pack(files=(PackedFile(address="index.html", path=Path("/built/index.html"), sha1="a" * 40, size=5),))


def test_an_app_is_told_whole_with_the_release_as_a_variable_and_secrets_by_name() -> None:
    target = spec(
        "digitalocean",
        region="ams",
        domain="shop.example.org",
        command=("shop", "--port", "8 0"),
        instances=(2, 2),
        variables=(("MODE", "fast"),),
        secrets=(("DB_URL", "PROD_DB_URL"),),
        options=(("registry", "ghcr.io/team/apps"), ("registry_credentials_from", "GHCR_PULL")),
    )
    secret = SecretValue(variable="PROD_DB_URL")

    assert digitalocean.app_spec(target, release()) == {
        "name": "shop",
        "region": "ams",
        "domains": [{"domain": "shop.example.org", "type": "PRIMARY"}],
        "services": [
            {
                "name": "shop",
                "image": {
                    "registry_type": "GHCR",
                    "registry": "team/apps",
                    "repository": "shop",
                    "digest": f"sha256:{DIGEST}",
                    "registry_credentials": SecretValue(variable="GHCR_PULL"),
                },
                "http_port": 8080,
                "instance_count": 2,
                "instance_size_slug": "apps-s-1vcpu-0.5gb",
                "health_check": {"http_path": "/"},
                "envs": [
                    {"key": "MILEPOST_RELEASE", "value": LABEL, "scope": "RUN_TIME"},
                    {"key": "MODE", "value": "fast", "scope": "RUN_TIME"},
                    {"key": "DB_URL", "value": secret, "scope": "RUN_TIME", "type": "SECRET"},
                ],
                "run_command": "shop --port '8 0'",
            }
        ],
    }


def test_a_registry_that_app_platform_cannot_reach_is_refused() -> None:
    target = spec("digitalocean", region="ams", options=(("registry", "quay.io/team"),))

    with pytest.raises(SettingInvalid, match=r"takes no images from 'quay\.io'"):
        digitalocean.app_spec(target, release())


def test_an_app_is_scaled_as_it_is_and_without_a_word_of_its_other_settings() -> None:
    target = spec("digitalocean", region="ams", options=(("registry", "ghcr.io/team"),))
    service = {"name": "shop", "instance_count": 1, "envs": [{"key": "DB_URL", "value": "EV[1:x:y]"}]}
    app = {"id": "a", "spec": {"name": "shop", "services": [service]}}

    made, _ = play(digitalocean.scale(target, 4), said({"apps": [app]}), said({"app": app}))

    scaled = {"spec": {"name": "shop", "services": [service | {"instance_count": 4}]}}
    assert requests(made)[1] == ("PUT", "https://api.digitalocean.com/v2/apps/a", scaled)


@pytest.mark.parametrize(
    ("dynos", "healthy", "settled", "detail"),
    [
        (["up", "up"], True, True, ""),
        (["up", "starting"], False, False, "dynos: up, starting"),
        (["crashed"], False, True, "dynos: crashed"),
        ([], False, False, "dynos: none"),
    ],
)
def test_a_build_that_succeeded_is_healthy_when_its_dynos_are_up(
    dynos: list[str], healthy: bool, settled: bool, detail: str
) -> None:
    build = {"id": "b", "status": "succeeded", "slug": {"id": "s"}, "source_blob": {"version": LABEL}}
    states = [{"type": "web", "state": state} for state in dynos]

    _, health = play(
        heroku.health(spec("heroku"), release(ArtifactKind.WHEEL)),
        *(said([build]), said([{"slug": {"id": "s"}}]), said(states)),
    )

    assert (health.healthy, health.settled, health.detail) == (healthy, settled, detail)


def test_logs_of_app_platform_are_read_where_it_says_they_are() -> None:
    target = spec("digitalocean", region="ams")
    made_of = {"services": [{"envs": [{"key": "MILEPOST_RELEASE", "value": LABEL}]}]}
    app, deployments = said({"apps": [{"id": "a", "spec": {"name": "shop"}}]}), [{"id": "d", "spec": made_of}]
    kept = {"historic_urls": ["https://logs.example/1"], "live_url": "https://logs.example/live"}

    made, text = play(
        digitalocean.logs(target, release(), 1),
        *(app, said({"deployments": deployments}), said(kept), said(text="one\ntwo\n")),
    )

    assert text == "two"
    assert [url for _, url, _ in requests(made)][2:] == [
        "https://api.digitalocean.com/v2/apps/a/deployments/d/logs?type=RUN&follow=false",
        "https://logs.example/1",
    ]


def test_heroku_scales_restarts_and_hands_out_its_logs_at_an_address() -> None:
    shop = spec("heroku")
    scaled, _ = play(heroku.scale(shop, 3), said({}))
    restarted, _ = play(heroku.restart(shop), said({}))
    asked, text = play(
        heroku.logs(shop, release(), 20), said({"logplex_url": "https://logs.example/1"}), said(text="a line\n")
    )

    at = "https://api.heroku.com/apps/shop"
    assert requests(scaled) == [("PATCH", f"{at}/formation/web", {"quantity": 3})]
    assert requests(restarted) == [("DELETE", f"{at}/dynos", None)]
    assert requests(asked) == [
        ("POST", f"{at}/log-sessions", {"lines": 20, "source": "app"}),
        ("GET", "https://logs.example/1", None),
    ]
    assert text == "a line\n"


def test_a_site_for_vercel_is_sent_by_digest_and_gets_no_domain() -> None:
    site = release(ArtifactKind.STATIC)
    target = spec("vercel", options=(("team", "team_1"),))

    made, reference = play(
        vercel.deploy(target, site, SITE), said({"deployments": []}), said({}), said({"id": "dpl_1"})
    )

    assert reference == "dpl_1"
    api, team = "https://api.vercel.com", "teamId=team_1"
    wanted = {
        "name": "shop",
        "target": "production",
        "autoAssignCustomDomains": False,
        "files": [{"file": "index.html", "sha": "a" * 40, "size": 5}],
        "projectSettings": {"framework": None},
        "meta": {"milepostRelease": LABEL},
    }
    listed = f"app=shop&target=production&limit=100&meta-milepostRelease={LABEL}"
    assert requests(made) == [
        ("GET", f"{api}/v6/deployments?{listed}&{team}", None),
        ("POST", f"{api}/v2/files?{team}", None),
        ("POST", f"{api}/v13/deployments?skipAutoDetectionConfirmation=1&{team}", wanted),
    ]


def test_a_promotion_that_fails_is_told() -> None:
    found = said({"deployments": [{"uid": "dpl_1", "state": "READY", "meta": {"milepostRelease": LABEL}}]})
    none, failed = ({"lastAliasRequest": each} for each in (None, {"toDeploymentId": "dpl_1", "jobStatus": "failed"}))

    with pytest.raises(TargetRefused, match="vercel has not given release 3 the traffic"):
        play(vercel.switch(spec("vercel"), release()), found, said(none), said({}), said(failed))


@pytest.mark.parametrize(
    ("state", "healthy", "settled"),
    [("ready", True, True), ("processing", False, False), ("uploading", False, False), ("error", False, True)],
)
def test_a_deploy_of_netlify_is_well_when_it_is_ready(state: str, healthy: bool, settled: bool) -> None:
    found = said([{"id": "d", "title": LABEL, "state": state}])

    _, health = play(netlify.health(spec("netlify"), release()), found)

    assert (health.healthy, health.settled) == (healthy, settled)


@pytest.mark.parametrize("vendor", [netlify, vercel])
def test_files_are_not_scaled(vendor: Any) -> None:
    with pytest.raises(TargetRefused, match="no instances to scale"):
        play(vendor.scale(spec("netlify"), 2))


def test_netlify_that_never_says_what_it_lacks_is_given_up() -> None:
    preparing: list[VendorReply] = [said({"id": "d", "state": "preparing"})] * (netlify.LOOKS + 1)

    with pytest.raises(TargetRefused, match="does not say which files it lacks"):
        play(netlify.deploy(spec("netlify"), release(ArtifactKind.STATIC), SITE), said([]), *preparing)
