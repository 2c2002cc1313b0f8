"""Releases in Envoy's own words: pure, tested by equality, and by Envoy itself (`--mode validate`).

Each release is a cluster. What is shown is one route: to a release alone, or to `live|previous`, where a retry goes to
the other of the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]
SIDES = ("a", "b")
"""Two Envoys take connections from one port, so that one can die."""
_API = "type.googleapis.com/envoy."
_SAFE_METHODS = "GET|HEAD|OPTIONS"
_NOTHING_HERE = "no release is live here\n"
_PATH_HEADER = "x-milepost-path"
_QUERY = {"pattern": {"regex": r"([?&][^=&]*)(=[^&]*)?"}, "substitution": r"\1="}
_FAILED_LINE = {
    "at": "%START_TIME(%s.%3f)%",
    "method": "%REQ(:METHOD)%",
    "path": f"%REQ({_PATH_HEADER.upper()}):1000%",
    "status": "%RESPONSE_CODE%",
    "release": "%METADATA(UPSTREAM_HOST:milepost:release)%",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What may be retried, and how long things may take."""

    retries: int = 1
    """With one retry an outage of both releases costs twice the requests; with more it costs more."""
    retry_budget: int = 100
    """Requests that may be on their second try at one time, of each release and Envoy."""
    retry_statuses: tuple[int, ...] = (500, 502, 503, 504)
    connect_s: float = 5.0
    """A short time is over on a starved machine, too, and then counts against the instance."""
    connections: int = 256
    answer_s: float = 30.0
    silence_s: float = 300.0
    keep_idle_s: float = 1.0
    """Shorter than a release keeps its own connections: who closes first loses no request."""
    eject_s: float = 1.0
    head_s: float = 10.0
    head_kb: int = 32
    clients: int = 10_000


def command(binary: Path, folder: Path, side: str) -> tuple[str, ...]:
    """How one of the two is started."""
    config = str(folder / f"bootstrap-{side}.json")
    return (
        *(str(binary), "--config-path", config, "--concurrency", "1"),
        *("--disable-hot-restart", "--log-level", "warning", "--file-flush-interval-msec", "500"),
    )


def failed_log(side: str) -> str:
    """Where one of the two writes down each try that failed, without queries' values, headers and bodies."""
    return f"failed-{side}.log"


def admin_socket(side: str) -> str:
    """Relative to the folder in which Envoy is started: a socket's whole path may be too long for the kernel."""
    return f"admin-{side}.sock"


def bootstrap(*, folder: Path, address: str, port: int, side: str, policy: Policy) -> Json:
    """What one of the two is started with: its listener, its admin socket, and where the rest is."""
    manager = {
        "@type": f"{_API}extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "app",
        "rds": {"route_config_name": "app", "config_source": _file(folder / "routes.json")},
        "use_remote_address": True,
        "generate_request_id": False,
        "normalize_path": True,
        "server_header_transformation": "PASS_THROUGH",
        "stream_idle_timeout": _seconds(policy.silence_s),
        "request_headers_timeout": _seconds(policy.head_s),
        "max_request_headers_kb": policy.head_kb,
        "common_http_protocol_options": {"idle_timeout": "60s", "headers_with_underscores_action": "REJECT_REQUEST"},
        "upgrade_configs": [{"upgrade_type": "websocket"}],
        "http_filters": [
            {"name": "path", "typed_config": _path_without_values()},
            {
                "name": "router",
                "typed_config": {
                    "@type": f"{_API}extensions.filters.http.router.v3.Router",
                    "suppress_envoy_headers": True,
                    "upstream_log": [_failed(folder / failed_log(side))],
                },
            },
        ],
    }
    listener = {
        "name": "app",
        "address": {"socket_address": {"address": address, "port_value": port}},
        "enable_reuse_port": True,
        "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}],
    }
    limit = {
        "name": "envoy.resource_monitors.global_downstream_max_connections",
        "typed_config": {
            "@type": f"{_API}extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
            "max_active_downstream_connections": policy.clients,
        },
    }
    return {
        "node": {"id": f"milepost-{side}", "cluster": "milepost"},
        "admin": {"address": {"pipe": {"path": admin_socket(side), "mode": 0o600}}},
        "stats_flush_interval": "1s",
        "static_resources": {"listeners": [listener]},
        "dynamic_resources": {"cds_config": _file(folder / "clusters.json")},
        "overload_manager": {"resource_monitors": [limit]},
    }


def pair(live: str, previous: str) -> str:
    """The name of the cluster that is one release with another behind it."""
    return f"{live}|{previous}"


def clusters(names: Iterable[str], *, folder: Path, policy: Policy) -> list[Json]:
    """The clusters of these names, those of pairs among them."""
    return [_both(name, policy) if "|" in name else _release(name, folder, policy) for name in sorted(names)]


def endpoints(name: str, ports: Sequence[int]) -> list[Json]:
    """Where a release's instances are; as long as one of them is well, nothing goes to the release behind."""
    told = {"filter_metadata": {"milepost": {"release": name}}}
    hosts = [
        {
            "endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}},
            "metadata": told,
        }
        for port in ports
    ]
    return [
        {
            "@type": f"{_API}config.endpoint.v3.ClusterLoadAssignment",
            "cluster_name": name,
            "endpoints": [{"lb_endpoints": hosts}],
            "policy": {"overprovisioning_factor": 10_000},
        }
    ]


def routes(cluster: str, policy: Policy) -> list[Json]:
    """Everything to one cluster, or 503 without one.

    What is safe to do twice is tried again on an error, too; the rest only while nothing of it was sent.
    """
    nothing = {"status": 503, "body": {"inline_string": _NOTHING_HERE}}
    found: list[Json] = [{"match": {"prefix": "/"}, "direct_response": nothing}]
    if cluster:
        method = {"name": ":method", "string_match": {"safe_regex": {"regex": _SAFE_METHODS}}}
        found = [
            {"match": match, "route": {"cluster": cluster, "timeout": "0s", "retry_policy": _retry(policy, safe=safe)}}
            for match, safe in (({"prefix": "/", "headers": [method]}, True), ({"prefix": "/"}, False))
        ]
    return [
        {
            "@type": f"{_API}config.route.v3.RouteConfiguration",
            "name": "app",
            "virtual_hosts": [{"name": "app", "domains": ["*"], "routes": found}],
            "request_headers_to_add": [
                {
                    "header": {"key": _PATH_HEADER, "value": "%DYNAMIC_METADATA(milepost:path)%"},
                    "append_action": "OVERWRITE_IF_EXISTS_OR_ADD",
                }
            ],
        }
    ]


def shown(route_file: Mapping[str, Any]) -> tuple[str, ...]:
    """The release that has the traffic by a file of routes, and the one behind it; empty for none."""
    route = route_file["resources"][0]["virtual_hosts"][0]["routes"][0]
    return tuple(route["route"]["cluster"].split("|")) if "route" in route else ()


def _path_without_values() -> Json:
    """The path with the names of a query's fields alone; a try's log sees headers, and nothing else of a request."""
    kept = {"metadata_namespace": "milepost", "key": "path", "regex_value_rewrite": _QUERY}
    return {
        "@type": f"{_API}extensions.filters.http.header_to_metadata.v3.Config",
        "request_rules": [{"header": ":path", "on_header_present": kept}],
    }


def _failed(path: Path) -> Json:
    """Each try that was answered with 500 or more, or not at all, also where a retry hid it from whoever asked."""
    at_least = {"op": "GE", "value": {"default_value": 500, "runtime_key": "milepost.failed"}}
    kinds: list[Json] = [{"status_code_filter": {"comparison": at_least}}, {"response_flag_filter": {}}]
    return {
        "name": "failed",
        "filter": {"or_filter": {"filters": kinds}},
        "typed_config": {
            "@type": f"{_API}extensions.access_loggers.file.v3.FileAccessLog",
            "path": str(path),
            "log_format": {"json_format": _FAILED_LINE},
        },
    }


def _release(name: str, folder: Path, policy: Policy) -> Json:
    http = {
        "@type": f"{_API}extensions.upstreams.http.v3.HttpProtocolOptions",
        "explicit_http_config": {"http_protocol_options": {}},
        "common_http_protocol_options": {"idle_timeout": _seconds(policy.keep_idle_s)},
    }
    return {
        "@type": f"{_API}config.cluster.v3.Cluster",
        "name": name,
        "type": "EDS",
        "eds_cluster_config": {"eds_config": _file(folder / f"endpoints-{name}.json")},
        "connect_timeout": _seconds(policy.connect_s),
        "circuit_breakers": _limits(policy),
        "typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": http},
        "track_cluster_stats": {"per_endpoint_stats": True},
        # Who is out is known to the workers at once; with nobody left, everybody is tried.
        "common_lb_config": {"update_merge_window": "0s", "healthy_panic_threshold": {"value": 1}},
        "outlier_detection": _ejection(policy),
    }


def _both(name: str, policy: Policy) -> Json:
    aggregate = {
        "@type": f"{_API}extensions.clusters.aggregate.v3.ClusterConfig",
        "clusters": name.split("|"),
    }
    return {
        "@type": f"{_API}config.cluster.v3.Cluster",
        "name": name,
        "connect_timeout": _seconds(policy.connect_s),
        "circuit_breakers": _limits(policy),
        "lb_policy": "CLUSTER_PROVIDED",
        "cluster_type": {"name": "envoy.clusters.aggregate", "typed_config": aggregate},
    }


def _limits(policy: Policy) -> Json:
    """A number bounds the retries: of a pair Envoy knows no requests of its own that a percentage could be taken of."""
    return {
        "thresholds": [
            {
                "max_connections": policy.connections,
                "max_pending_requests": policy.clients,
                "max_requests": policy.clients,
                "max_retries": policy.retry_budget,
            }
        ]
    }


def _ejection(policy: Policy) -> Json:
    """A refused connection takes an instance out for a moment; answers do not, whatever they say."""
    never = ("consecutive_5xx", "consecutive_gateway_failure", "success_rate", "local_origin_success_rate")
    return {
        "split_external_local_origin_errors": True,
        "consecutive_local_origin_failure": 1,
        "enforcing_consecutive_local_origin_failure": 100,
        **{f"enforcing_{kind}": 0 for kind in never},
        "interval": "0.5s",
        "base_ejection_time": _seconds(policy.eject_s),
        "max_ejection_time": _seconds(policy.eject_s),
        "max_ejection_percent": 100,
    }


def _retry(policy: Policy, *, safe: bool) -> Json:
    other_release = {
        "@type": f"{_API}extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig",
        "update_frequency": 1,
    }
    other_instance = {"@type": f"{_API}extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"}
    then = "reset,retriable-status-codes" if safe else "reset-before-request"
    return {
        "retry_on": f"connect-failure,refused-stream,{then}",
        "retriable_status_codes": list(policy.retry_statuses) if safe else [],
        "num_retries": policy.retries,
        "per_try_timeout": _seconds(policy.answer_s),
        "retry_back_off": {"base_interval": "0.001s", "max_interval": "0.010s"},
        "retry_priority": {"name": "envoy.retry_priorities.previous_priorities", "typed_config": other_release},
        "retry_host_predicate": [
            {"name": "envoy.retry_host_predicates.previous_hosts", "typed_config": other_instance}
        ],
        "host_selection_retry_max_attempts": 3,
    }


def _file(path: Path) -> Json:
    return {"resource_api_version": "V3", "path_config_source": {"path": str(path)}}


def _seconds(value: float) -> str:
    return f"{value:g}s"
