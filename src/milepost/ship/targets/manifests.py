"""The manifests of one release on Kubernetes, all from one spec.

Each release has a Deployment of its own, and the Service names the one that has the traffic: the release before stays
warm, and to go back changes one selector. The API server's `rollout undo` would leave behind fields of an owner that no
later apply removes.
"""

from __future__ import annotations

from typing import Any

from milepost.core.shipping import Release, SecretValue, TargetSpec
from milepost.ship.targets.images import DEFAULT_PORT, image_reference
from milepost.ship.targets.vendor import label, option

Manifest = dict[str, Any]
RELEASE = "milepost-release"
# Endpoints forget a pod a moment after it is told to end; until then it goes on answering.
DRAIN_S = 5


def name_of(spec: TargetSpec, release: Release) -> str:
    return f"{spec.application}-{label(release)}"


def of_release(spec: TargetSpec, release: Release) -> list[Manifest]:
    """What stands beside the release before: nothing of it has traffic."""
    return [
        *([_secret(spec, release)] if spec.secrets else []),
        _deployment(spec, release),
        *([_autoscaler(spec, release)] if scales_itself(spec) else []),
        *([_disruption_budget(spec, release)] if spec.instances[0] > 1 else []),
    ]


def of_traffic(spec: TargetSpec, release: Release) -> list[Manifest]:
    """What leads to a release: the Service, and with a domain an Ingress."""
    return [_service(spec, release), *([_ingress(spec)] if spec.domain else [])]


def scales_itself(spec: TargetSpec) -> bool:
    return spec.instances[0] < spec.instances[1]


def listed(manifests: list[Manifest]) -> Manifest:
    """Several manifests as one document."""
    return {"apiVersion": "v1", "kind": "List", "items": manifests}


def _labels(spec: TargetSpec, release: Release | None = None) -> dict[str, str]:
    own = {"app.kubernetes.io/name": spec.application, "app.kubernetes.io/managed-by": "milepost"}
    return own if release is None else own | {RELEASE: label(release)}


def _selector(spec: TargetSpec, release: Release) -> dict[str, str]:
    return {"app.kubernetes.io/name": spec.application, RELEASE: label(release)}


def _metadata(spec: TargetSpec, release: Release) -> Manifest:
    return {"name": name_of(spec, release), "labels": _labels(spec, release)}


def _port(spec: TargetSpec) -> int:
    return spec.port or DEFAULT_PORT


def _secret(spec: TargetSpec, release: Release) -> Manifest:
    """Its values are put in when it is sent, on standard input; a server-side apply keeps no copy in an annotation."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": _metadata(spec, release),
        "type": "Opaque",
        "stringData": {name: SecretValue(variable=variable) for name, variable in spec.secrets},
    }


def _deployment(spec: TargetSpec, release: Release) -> Manifest:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(spec, release),
        "spec": {
            "replicas": spec.instances[0],
            "progressDeadlineSeconds": max(10, round(spec.start_timeout_s)),
            "selector": {"matchLabels": _selector(spec, release)},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
            "template": {"metadata": {"labels": _labels(spec, release)}, "spec": _pod(spec, release)},
        },
    }


def _pod(spec: TargetSpec, release: Release) -> Manifest:
    health = {"httpGet": {"path": spec.health_path, "port": "http"}}
    container: Manifest = {
        "name": "app",
        "image": image_reference(spec, release),
        **({"command": list(spec.command)} if spec.command else {}),
        "ports": [{"name": "http", "containerPort": _port(spec)}],
        "env": [
            {"name": "PORT", "value": str(_port(spec))},
            *({"name": name, "value": value} for name, value in spec.variables),
            *({"name": name, "valueFrom": _from_secret(spec, release, name)} for name, _ in spec.secrets),
        ],
        "readinessProbe": {**health, "periodSeconds": 2, "failureThreshold": 2},
        "livenessProbe": {
            **health,
            "periodSeconds": 10,
            "failureThreshold": 3,
            "initialDelaySeconds": max(1, round(spec.start_timeout_s)),
        },
        "lifecycle": {"preStop": {"exec": {"command": ["sleep", str(DRAIN_S)]}}},
        "resources": _resources(spec),
        "securityContext": {"allowPrivilegeEscalation": False},
    }
    return {
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": DRAIN_S + 30,
        "containers": [container],
    }


def _resources(spec: TargetSpec) -> Manifest:
    memory = option(spec, "memory", "256Mi")
    return {"requests": {"cpu": option(spec, "cpu", "250m"), "memory": memory}, "limits": {"memory": memory}}


def _from_secret(spec: TargetSpec, release: Release, key: str) -> Manifest:
    return {"secretKeyRef": {"name": name_of(spec, release), "key": key}}


def _autoscaler(spec: TargetSpec, release: Release) -> Manifest:
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": _metadata(spec, release),
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name_of(spec, release)},
            "minReplicas": spec.instances[0],
            "maxReplicas": spec.instances[1],
            "metrics": [{"type": "Resource", "resource": cpu}],
        },
    }


def _disruption_budget(spec: TargetSpec, release: Release) -> Manifest:
    """Not for a single instance: one that may never go would hold up every maintenance of its node."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": _metadata(spec, release),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": _selector(spec, release)}},
    }


def _service(spec: TargetSpec, release: Release) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": spec.application, "labels": _labels(spec)},
        "spec": {
            "selector": _selector(spec, release),
            "ports": [{"name": "http", "port": 80, "targetPort": "http"}],
        },
    }


def _ingress(spec: TargetSpec) -> Manifest:
    backend = {"service": {"name": spec.application, "port": {"name": "http"}}}
    tls = option(spec, "tls_secret")
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": spec.application, "labels": _labels(spec)},
        "spec": {
            **({"tls": [{"hosts": [spec.domain], "secretName": tls}]} if tls else {}),
            "rules": [
                {"host": spec.domain, "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
            ],
        },
    }
