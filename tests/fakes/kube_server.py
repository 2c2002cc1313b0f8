"""As much of a Kubernetes API server as kubectl needs: objects are kept, and deployments have pods at once.

A request for an address that the API does not have is answered with 404 and remembered in `strange`.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

Object = dict[str, Any]
_KINDS = {
    "v1": {"pods": "Pod", "services": "Service", "secrets": "Secret"},
    "apps/v1": {"deployments": "Deployment", "replicasets": "ReplicaSet"},
    "autoscaling/v2": {"horizontalpodautoscalers": "HorizontalPodAutoscaler"},
    "policy/v1": {"poddisruptionbudgets": "PodDisruptionBudget"},
    "networking.k8s.io/v1": {"ingresses": "Ingress"},
}
_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
_ADDRESS = re.compile(
    r"/(?:api|apis)/(?P<version>(?:[a-z0-9.]+/)?v\d)/namespaces/(?P<namespace>[^/]+)/(?P<plural>[a-z]+)"
    r"(?:/(?P<name>[^/]+)(?:/(?P<part>scale|log))?)?"
)


class KubeServer:
    """`ill` are words of images whose pods never start; `refuse` is a status that every request gets."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], Object] = {}
        self.asked: list[tuple[str, str]] = []
        self.strange: list[str] = []
        self.applied: list[Object] = []
        self.ill: set[str] = set()
        self.refuse: int | None = None
        self.lock = Lock()

    def answer(self, method: str, url: str, body: bytes) -> tuple[int, Object | str | bytes]:
        address = urlsplit(url)
        query = {name: values[-1] for name, values in parse_qs(address.query).items()}
        with self.lock:
            self.asked.append((method, address.path))
            if self.refuse is not None:
                return self.refuse, _status(self.refuse, "Unauthorized", "Unauthorized")
            if address.path == "/openapi/v2":
                return 200, _older_parameters()
            if (found := _discovery(address.path)) is not None:
                return 200, found
            place = _ADDRESS.fullmatch(address.path)
            if place is None or place["plural"] not in _KINDS.get(place["version"], {}):
                self.strange.append(f"{method} {url}")
                return 404, _status(404, "NotFound", f"there is no {address.path}")
            return self._act(method, place["version"], place["plural"], place["name"], place["part"], query, body)

    def _act(
        self, method: str, version: str, plural: str, name: str | None, part: str | None, query: Any, body: bytes
    ) -> tuple[int, Object | str]:
        kind = _KINDS[version][plural]
        if name is None:
            fields = query.get("fieldSelector", "")
            found = [
                each
                for (of, named), each in self.objects.items()
                if of == kind
                and _matches(each, query.get("labelSelector", ""))
                and fields in ("", f"metadata.name={named}")
            ]
            return 200, {"kind": f"{kind}List", "apiVersion": version, "metadata": {}, "items": found}
        if part == "log":
            return 200, f"{name} says hello\n"
        if method == "PATCH" and b'"kind"' in body:
            return self._applied(json.loads(body), dry="dryRun" in query)
        here = self.objects.get((kind, name))
        if here is None:
            return 404, _status(404, "NotFound", f'{plural} "{name}" not found')
        match method, part:
            case "GET", "scale":
                return 200, _scale(here)
            case "PUT" | "PATCH", "scale":
                here["spec"]["replicas"] = json.loads(body)["spec"]["replicas"]
                self._controlled(here)
                return 200, _scale(here)
            case "PATCH", _:
                _merge(here, json.loads(body))
                self._controlled(here)
            case "DELETE", _:
                del self.objects[(kind, name)]
        return 200, here

    def _applied(self, thing: Object, *, dry: bool) -> tuple[int, Object | str]:
        key = thing["kind"], thing["metadata"]["name"]
        rolling = thing.get("spec", {}).get("strategy", {}).get("rollingUpdate", {})
        if rolling and not (rolling["maxSurge"] or rolling["maxUnavailable"]):
            return 422, _status(422, "Invalid", "may not be 0 when `maxSurge` is 0")
        if dry:
            return 200, thing
        new = key not in self.objects
        self.applied.append(copy.deepcopy(thing))
        self.objects[key] = thing
        thing["metadata"] |= {"namespace": "shop", "uid": "u", "generation": 1, "resourceVersion": "1"}
        self._controlled(thing)
        return (201 if new else 200), thing

    def _controlled(self, thing: Object) -> None:
        """What controllers would make of a deployment: a status, and one pod for all."""
        if thing["kind"] != "Deployment":
            return
        wanted = thing["spec"].setdefault("replicas", 1)
        image = thing["spec"]["template"]["spec"]["containers"][0]["image"]
        ill = any(word in image for word in self.ill)
        ready = 0 if ill else wanted
        thing["status"] = {
            "observedGeneration": thing["metadata"]["generation"],
            **({"readyReplicas": ready, "availableReplicas": ready} if ready else {}),
            "replicas": wanted,
            "updatedReplicas": wanted,
            "conditions": [{"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated", "message": "on"}],
        }
        waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}
        self.objects["Pod", f"{thing['metadata']['name']}-x"] = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"{thing['metadata']['name']}-x", "namespace": "shop", "uid": "p"}
            | {"labels": thing["spec"]["template"]["metadata"]["labels"]},
            "spec": {"containers": [{"name": "app", "image": image}]},
            "status": {"containerStatuses": [{"name": "app", "restartCount": 0, "state": waiting if ill else {}}]},
        }


@contextmanager
def kube_server(folder: Path) -> Iterator[tuple[KubeServer, Path]]:
    """The server, and a kubeconfig with the context `test` for it."""
    server = KubeServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, said = server.answer(self.command, self.path, body)
            plain = said.encode() if isinstance(said, str) else said
            content = plain if isinstance(plain, bytes) else json.dumps(plain).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain" if plain is content else "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PATCH = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        Thread(target=listening.serve_forever, args=(0.02,), daemon=True).start()
        config = folder / "kubeconfig"
        config.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [
                        {"name": "test", "cluster": {"server": f"http://127.0.0.1:{listening.server_port}"}},
                    ],
                    "users": [{"name": "test", "user": {"token": "a-token-of-nobody"}}],
                    "current-context": "",
                    "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
                }
            )
        )
        try:
            yield server, config
        finally:
            listening.shutdown()


def _discovery(path: str) -> Object | None:
    groups = [version for version in _KINDS if "/" in version]
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(version) for version in groups]}
    if path == "/version":
        return {"major": "1", "minor": "32", "gitVersion": "v1.32.0"}
    if path.startswith("/api/v1/namespaces/") and path.count("/") == 4:
        return {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": path.rpartition("/")[2]}}
    if path == "/openapi/v3":
        places = {f"{'apis' if '/' in version else 'api'}/{version}" for version in _KINDS}
        return {"paths": {place: {"serverRelativeURL": f"/openapi/v3/{place}"} for place in sorted(places)}}
    if path.startswith("/openapi/v3/"):
        return _parameters(path.removeprefix("/openapi/v3/apis/").removeprefix("/openapi/v3/api/"))
    version = path.removeprefix("/apis/").removeprefix("/api/")
    if version in _KINDS and path.count("/") == version.count("/") + 2:
        plain = {"namespaced": True, "verbs": _VERBS, "singularName": ""}
        names = [plain | {"name": plural, "kind": kind} for plural, kind in _KINDS[version].items()]
        scale = plain | {"name": "deployments/scale", "kind": "Scale", "group": "autoscaling", "version": "v1"}
        resources = [*names, *([scale] if version == "apps/v1" else [])]
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources}
    return None


def _parameters(version: str) -> Object:
    """That this version of the API checks fields itself, which kubectl asks before it relies on it."""
    group, _, number = version.rpartition("/")
    parameters = [{"name": name, "in": "query"} for name in ("dryRun", "fieldValidation", "fieldManager", "force")]

    def patch(kind: str) -> Object:
        return {
            "patch": {
                "parameters": parameters,
                "responses": {},
                "x-kubernetes-action": "patch",
                "x-kubernetes-group-version-kind": {"group": group, "version": number, "kind": kind},
            }
        }

    kinds = _KINDS.get(version, {})
    paths = {f"/{plural}/{{name}}": patch(kind) for plural, kind in kinds.items()}
    return {"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.32.0"}, "paths": paths}


def _older_parameters() -> bytes:
    """The same for clients older than 1.27, which ask for it in protocol buffers."""

    def message(number: int, *parts: bytes | str) -> bytes:
        content = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
        size, left = b"", len(content)
        while left > 127:
            size, left = size + bytes([left & 127 | 128]), left >> 7
        return bytes([number << 3 | 2]) + size + bytes([left]) + content

    document = b""
    for version, kinds in _KINDS.items():
        group, _, number = version.rpartition("/")
        for plural, kind in kinds.items():
            named = f"group: '{group}'\nversion: {number}\nkind: {kind}\n"
            extension = message(13, message(1, "x-kubernetes-group-version-kind"), message(2, message(2, named)))
            dry_run = message(8, message(1, message(2, message(3, message(2, "query"), message(4, "dryRun")))))
            item = message(8, dry_run, extension)
            document += message(2, message(1, f"/{version}/{plural}/{{name}}"), message(2, item))
    return message(1, "2.0") + message(8, document)


def _group(version: str) -> Object:
    said = {"groupVersion": version, "version": version.split("/")[1]}
    return {"name": version.split("/")[0], "versions": [said], "preferredVersion": said}


def _scale(thing: Object) -> Object:
    named = {"name": thing["metadata"]["name"], "namespace": "shop", "resourceVersion": "1"}
    replicas = {"replicas": thing["spec"]["replicas"]}
    return {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": named, "spec": replicas, "status": replicas}


def _matches(thing: Object, selector: str) -> bool:
    labels = thing["metadata"].get("labels", {})
    wanted = [part.split("=") for part in selector.split(",") if part]
    return all(labels.get(name) == value for name, value in wanted)


def _merge(into: Object, change: Object) -> None:
    for name, value in change.items():
        if isinstance(value, dict) and isinstance(into.get(name), dict):
            _merge(into[name], value)
        else:
            into[name] = value


def _status(code: int, reason: str, message: str) -> Object:
    said = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return said | {"reason": reason, "message": message, "code": code}
