"""Four vendors in memory, behind their contracts: what was deployed, and which of it has the traffic."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, unquote

from tests.fakes.vendor_server import Answer, Asked

Thing = dict[str, Any]


class Netlify:
    """A deploy is ready once all of its files are there."""

    origin, variable = "https://api.netlify.com", "NETLIFY_AUTH_TOKEN"

    def __init__(self) -> None:
        self.deploys: list[Thing] = []
        self.published = ""
        self.stuck = False
        self.stored: set[str] = set()

    def __call__(self, asked: Asked) -> Answer:
        match asked.method, asked.path.removeprefix("/api/v1").split("/")[1:]:
            case "GET", ["sites", "shop.netlify.app"]:
                return 200, {"id": "s", "published_deploy": {"id": self.published} if self.published else None}
            case "GET", ["sites", "shop.netlify.app", "deploys"]:
                return 200, [self._said(deploy) for deploy in reversed(self.deploys)]
            case "POST", ["sites", "shop.netlify.app", "deploys"]:
                assert asked.json["draft"] is True, "what is no draft has the traffic at once"
                title = parse_qs(asked.query)["title"][0]
                self.deploys.append({"id": f"d{len(self.deploys)}", "title": title, "files": asked.json["files"]})
                return 200, self._said(self.deploys[-1]) | {"state": "preparing"}
            case "GET", ["deploys", key]:
                return 200, self._said(self._deploy(key))
            case "PUT", ["deploys", key, "files", *path]:
                self.stored.add(self._deploy(key)["files"][unquote("/" + "/".join(path))])
                return 200, {}
            case "POST", ["sites", "shop.netlify.app", "deploys", key, "restore"]:
                self.published = key
                return 200, self._said(self._deploy(key))
        return 404, {"message": "Not Found"}

    def live(self) -> str:
        return next((each["title"] for each in self.deploys if each["id"] == self.published), "")

    def _deploy(self, key: str) -> Thing:
        return next(each for each in self.deploys if each["id"] == key)

    def _said(self, deploy: Thing) -> Thing:
        required = sorted(set(deploy["files"].values()) - self.stored)
        state = "processing" if self.stuck else "uploading" if required else "ready"
        return {"id": deploy["id"], "title": deploy["title"], "required": required, "state": state}


class DigitalOcean:
    """A deployment is active at once unless the app is stuck; one after a rollback by hand is pinned."""

    origin, variable = "https://api.digitalocean.com", "DIGITALOCEAN_ACCESS_TOKEN"

    def __init__(self) -> None:
        self.deployments: list[Thing] = []
        self.stuck = self.pinned = False
        self.said_pinned = 0

    def __call__(self, asked: Asked) -> Answer:
        match asked.method, asked.path.split("/")[2:]:
            case "GET", ["apps"]:
                return 200, {"apps": [self._app()] if self.deployments else []}
            case ("POST", ["apps"]) | ("PUT", ["apps", "a"]):
                assert not self.pinned, "a pinned app takes no deployment"
                self._deployed(asked.json["spec"])
                return 200, {"app": self._app()}
            case "GET", ["apps", "a", "deployments"]:
                return 200, {"deployments": list(reversed(self.deployments))}
            case "POST", ["apps", "a", "rollback", "validate"]:
                return 200, {"valid": True}
            case "POST", ["apps", "a", "rollback"]:
                back = next(each for each in self.deployments if each["id"] == asked.json["deployment_id"])
                self.pinned = not asked.json["skip_pin"]
                self._deployed(back["spec"])
                return 200, {"deployment": self.deployments[-1]}
            case "POST", ["apps", "a", "rollback", "commit"]:
                self.pinned = False
                return 200, {}
        return 404, {"id": "not_found"}

    def live(self) -> str:
        active = self._app().get("active_deployment")
        return active["spec"]["services"][0]["envs"][0]["value"] if active else ""

    def _deployed(self, spec: Thing) -> None:
        for each in self.deployments:
            each["phase"] = "SUPERSEDED"
        phase = "BUILDING" if self.stuck else "ACTIVE"
        self.deployments.append({"id": f"d{len(self.deployments)}", "spec": spec, "phase": phase})

    def _app(self) -> Thing:
        active = next((each for each in self.deployments if each["phase"] == "ACTIVE"), None)
        spec = self.deployments[-1]["spec"]
        return {"id": "a", "spec": spec, "active_deployment": active, "pinned_deployment": {} if self.pinned else None}


class Heroku:
    """A build succeeds at once unless it is stuck, and its release is current then."""

    origin, variable = "https://api.heroku.com", "HEROKU_API_KEY"

    def __init__(self) -> None:
        self.builds: list[Thing] = []
        self.releases: list[Thing] = []
        self.variables: Thing = {}
        self.uploaded: list[bytes] = []
        self.stuck = False

    def __call__(self, asked: Asked) -> Answer:
        match asked.method, asked.path.removeprefix("/apps/shop"):
            case "PATCH", "/config-vars":
                self.variables |= asked.json
                return 200, self.variables
            case "POST", "/sources":
                signed = f"{self.origin}/signed/1?X-Amz-Credential=AKIAIOSFODNN7EXAMPLE"
                return 201, {"source_blob": {"put_url": signed, "get_url": signed}}
            case "PUT", "/signed/1":
                assert "AKIAIOSFODNN7EXAMPLE" in asked.query
                self.uploaded.append(asked.body)
                return 200, ""
            case "POST", "/builds":
                self.builds.append({"source_blob": asked.json["source_blob"], "id": f"b{len(self.builds)}"})
                self._built(self.builds[-1])
                return 201, self.builds[-1]
            case "GET", "/builds":
                return 200, self.builds[::-1]
            case "GET", "/releases":
                return 206, self.releases[-1:]
            case "POST", "/releases":
                back = next(each for each in self.releases if each["id"] == asked.json["release"])
                self.releases.append(back | {"id": f"r{len(self.releases)}"})
                return 201, self.releases[-1]
            case "GET", "/dynos":
                return 200, [{"type": "web", "state": "up"}, {"type": "run", "state": "crashed"}]
        return 404, {"id": "not_found"}

    def live(self) -> str:
        slug = self.releases[-1]["slug"]["id"]
        return next(str(each["source_blob"]["version"]) for each in self.builds if each["id"] == slug)

    def _built(self, build: Thing) -> None:
        build |= {"status": "pending" if self.stuck else "succeeded", "slug": None, "release": None}
        if not self.stuck:
            release = {"id": f"r{len(self.releases)}", "slug": {"id": build["id"]}, "status": "succeeded"}
            self.releases.append(release)
            build |= {"slug": {"id": build["id"]}, "release": {"id": release["id"]}}


class Vercel:
    """A deployment is ready once it is made unless it is stuck, and promoted after it was looked at once more."""

    origin, variable = "https://api.vercel.com", "VERCEL_TOKEN"

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.deployments: list[Thing] = []
        self.change: Thing | None = None
        self.stuck = False
        self.changes: list[str] = []

    def __call__(self, asked: Asked) -> Answer:
        match asked.method, asked.path:
            case "POST", "/v2/files":
                self.files.add(asked.headers["x-vercel-digest"])
                return 200, {"urls": []}
            case "POST", "/v13/deployments":
                assert {file["sha"] for file in asked.json["files"]} <= self.files
                assert asked.json["autoAssignCustomDomains"] is False
                state = "BUILDING" if self.stuck else "READY"
                made = {"uid": f"dpl_{len(self.deployments)}", "state": state, "readySubstate": "STAGED"}
                self.deployments.append(made | {"meta": asked.json["meta"]})
                return 200, {"id": made["uid"], "readyState": "QUEUED"}
            case "GET", "/v6/deployments":
                return 200, {"deployments": self.deployments[::-1]}
            case "GET", "/v9/projects/shop":
                before, self.change = self.change, self.change and self.change | {"jobStatus": "succeeded"}
                return 200, {"id": "p", "lastAliasRequest": before}
        if match := re.fullmatch(r"/v(10|1)/projects/shop/(promote|rollback)/(dpl_\d+)", asked.path):
            chosen = next(each for each in self.deployments if each["uid"] == match[3])
            assert (match[2] == "rollback") == (chosen["readySubstate"] == "PROMOTED")
            chosen["readySubstate"] = "PROMOTED"
            self.changes.append(match[2])
            self.change = {"toDeploymentId": match[3], "jobStatus": "in-progress", "type": match[2]}
            return 201, ""
        return 404, {"error": {"code": "not_found"}}

    def live(self) -> str:
        assert self.change is not None
        chosen = next(each for each in self.deployments if each["uid"] == self.change["toDeploymentId"])
        return str(chosen["meta"]["milepostRelease"])
