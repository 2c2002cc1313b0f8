"""Releases in Envoy's words."""

import json
import subprocess
from pathlib import Path
from typing import Any

from milepost.ship.local.envoy_config import (
    SIDES,
    Policy,
    bootstrap,
    clusters,
    command,
    endpoints,
    pair,
    routes,
    shown,
)
from milepost.ship.local.proxy import Proxy, binary
from tests.deploying import needs_envoy

HOME = Path("/home/ada/targets/local")
POLICY = Policy()


def test_envoy_is_started_alone_and_quietly() -> None:
    assert command(Path("/bin/envoy"), HOME, "a") == (
        *("/bin/envoy", "--config-path", "/home/ada/targets/local/bootstrap-a.json", "--concurrency", "1"),
        *("--disable-hot-restart", "--log-level", "warning", "--file-flush-interval-msec", "500"),
    )


def test_a_route_says_which_releases_are_shown() -> None:
    for cluster, names in (("", ()), ("3", ("3",)), (pair("3", "2"), ("3", "2"))):
        assert shown({"resources": routes(cluster, POLICY)}) == names


def test_only_what_is_safe_to_do_twice_is_tried_again_after_an_answer() -> None:
    safe, other = (route["route"]["retry_policy"] for route in _routes("2|1"))
    assert safe["retry_on"] == "connect-failure,refused-stream,reset,retriable-status-codes"
    assert safe["retriable_status_codes"] == [500, 502, 503, 504]
    assert other["retry_on"] == "connect-failure,refused-stream,reset-before-request"
    assert other["retriable_status_codes"] == []
    assert safe["num_retries"] == other["num_retries"] == 1
    assert safe["retry_priority"]["name"] == "envoy.retry_priorities.previous_priorities"
    method = _routes("2|1")[0]["match"]["headers"]
    assert method == [{"name": ":method", "string_match": {"safe_regex": {"regex": "GET|HEAD|OPTIONS"}}}]


def test_retries_have_a_budget_in_every_cluster() -> None:
    budgets = [
        cluster["circuit_breakers"]["thresholds"][0]["max_retries"]
        for cluster in clusters({"1", "2", "2|1"}, folder=HOME, policy=Policy(retry_budget=7))
    ]
    assert budgets == [7, 7, 7]


def test_a_pair_is_one_release_and_then_the_other() -> None:
    found = {cluster["name"]: cluster for cluster in clusters({"2|1", "2", "1"}, folder=HOME, policy=POLICY)}
    assert found["2|1"]["cluster_type"]["typed_config"]["clusters"] == ["2", "1"]
    assert found["2"]["eds_cluster_config"]["eds_config"] == {
        "resource_api_version": "V3",
        "path_config_source": {"path": "/home/ada/targets/local/endpoints-2.json"},
    }


def test_an_endpoint_is_a_port_of_loopback() -> None:
    (assignment,) = endpoints("2", (4001, 4002))
    assert [each["endpoint"]["address"]["socket_address"] for each in assignment["endpoints"][0]["lb_endpoints"]] == [
        {"address": "127.0.0.1", "port_value": 4001},
        {"address": "127.0.0.1", "port_value": 4002},
    ]


def test_the_two_differ_only_in_their_own_socket_and_log() -> None:
    a, b = (bootstrap(folder=HOME, address="127.0.0.1", port=80, side=side, policy=POLICY) for side in SIDES)
    assert a["admin"]["address"]["pipe"] == {"path": "admin-a.sock", "mode": 0o600}
    text = json.dumps(a)
    for name in ("admin", "milepost", "failed"):
        text = text.replace(f"{name}-a", f"{name}-b")
    assert json.loads(text) == b


@needs_envoy
def test_envoy_takes_all_of_it(tmp_path: Path) -> None:
    Proxy(tmp_path).prepare("127.0.0.1", 18001)
    content = bootstrap(folder=tmp_path, address="127.0.0.1", port=18001, side="a", policy=POLICY)
    # What else is read from files while it runs is part of the file here, so that it is checked, too.
    content["static_resources"]["clusters"] = [
        {key: value for key, value in cluster.items() if key != "@type"}
        for cluster in clusters({"1", "2", "2|1"}, folder=tmp_path, policy=POLICY)
    ]
    for name in ("1", "2"):
        resources = {"version_info": "1", "resources": endpoints(name, (4001,))}
        (tmp_path / f"endpoints-{name}.json").write_text(json.dumps(resources))
    manager = content["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
    del manager["rds"]
    manager["route_config"] = {key: value for key, value in routes("2|1", POLICY)[0].items() if key != "@type"}
    (tmp_path / "bootstrap-a.json").write_text(json.dumps(content))
    checked = subprocess.run(
        [*command(binary(), tmp_path, "a"), "--mode", "validate"], capture_output=True, text=True, cwd=tmp_path
    )
    assert checked.returncode == 0, checked.stderr


def _routes(cluster: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = routes(cluster, POLICY)[0]["virtual_hosts"][0]["routes"]
    return found
