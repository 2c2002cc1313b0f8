"""What four vendors document of the requests that are sent to them: method, path, fields and headers."""

from __future__ import annotations

from tests.fakes.vendor_server import Operation

BEARER = {"Authorization": "Bearer .+"}
HEROKU_3 = BEARER | {"Accept": r"application/vnd\.heroku\+json; version=3"}
_APP = "/apps/{app}"
_DO_SERVICE = "spec.services[]"
_DO_IMAGE = ("registry_type", "registry", "registry_credentials", "repository", "digest")

NETLIFY = (
    Operation(method="GET", path="/api/v1/sites/{site}", headers=BEARER),
    Operation(
        method="GET", path="/api/v1/sites/{site}/deploys", headers=BEARER, query=("page", "per_page", "state", "branch")
    ),
    Operation(
        method="POST",
        path="/api/v1/sites/{site}/deploys",
        headers=BEARER,
        query=("title",),
        required=("files",),
        optional=("files.*", "draft", "async", "functions", "branch", "framework"),
    ),
    Operation(method="GET", path="/api/v1/deploys/{deploy}", headers=BEARER),
    Operation(
        method="PUT",
        path="/api/v1/deploys/{deploy}/files/{path*}",
        headers=BEARER | {"Content-Type": "application/octet-stream"},
    ),
    Operation(method="POST", path="/api/v1/sites/{site}/deploys/{deploy}/restore", headers=BEARER),
)

DIGITALOCEAN = (
    Operation(method="GET", path="/v2/apps", headers=BEARER, query=("page", "per_page", "with_projects")),
    *(
        Operation(
            method=method,
            path=path,
            headers=BEARER,
            required=("spec", "spec.name", f"{_DO_SERVICE}.name"),
            optional=(
                "spec.region",
                "spec.domains",
                "spec.domains[].domain",
                "spec.domains[].type",
                *(f"{_DO_SERVICE}.image.{name}" for name in _DO_IMAGE),
                *(f"{_DO_SERVICE}.{name}" for name in ("http_port", "instance_count", "instance_size_slug")),
                *(f"{_DO_SERVICE}.{name}" for name in ("run_command", "health_check.http_path")),
                *(f"{_DO_SERVICE}.envs[].{name}" for name in ("key", "value", "scope", "type")),
            ),
        )
        for method, path in (("POST", "/v2/apps"), ("PUT", "/v2/apps/{id}"))
    ),
    Operation(method="GET", path="/v2/apps/{id}/deployments", headers=BEARER, query=("page", "per_page")),
    *(
        Operation(
            method="POST",
            path=f"/v2/apps/{{id}}/{path}",
            headers=BEARER,
            required=("deployment_id",),
            optional=("skip_pin",),
        )
        for path in ("rollback", "rollback/validate")
    ),
    Operation(method="POST", path="/v2/apps/{id}/rollback/commit", headers=BEARER),
    Operation(method="POST", path="/v2/apps/{id}/restart", headers=BEARER),
    Operation(
        method="GET",
        path="/v2/apps/{id}/deployments/{deployment}/logs",
        headers=BEARER,
        query=("follow", "type", "pod_connection_timeout"),
    ),
)

HEROKU = (
    Operation(method="PATCH", path=f"{_APP}/config-vars", headers=HEROKU_3),
    Operation(method="POST", path=f"{_APP}/sources", headers=HEROKU_3),
    Operation(
        method="POST",
        path=f"{_APP}/builds",
        headers=HEROKU_3,
        required=("source_blob", "source_blob.url"),
        optional=("source_blob.version", "source_blob.checksum", "buildpacks"),
    ),
    Operation(method="GET", path=f"{_APP}/builds", headers=HEROKU_3 | {"Range": "created_at .*"}),
    Operation(method="GET", path=f"{_APP}/releases", headers=HEROKU_3 | {"Range": "version .*"}),
    Operation(method="POST", path=f"{_APP}/releases", headers=HEROKU_3, required=("release",)),
    Operation(method="GET", path=f"{_APP}/dynos", headers=HEROKU_3),
    Operation(method="DELETE", path=f"{_APP}/dynos", headers=HEROKU_3),
    Operation(method="PATCH", path=f"{_APP}/formation/web", headers=HEROKU_3, optional=("quantity", "size")),
    Operation(
        method="POST", path=f"{_APP}/log-sessions", headers=HEROKU_3, optional=("lines", "source", "tail", "dyno")
    ),
    # The addresses that it gives out are signed, and take nobody's token.
    Operation(
        method="PUT",
        path="/signed/{key}",
        headers={"Authorization": "", "Content-Type": ""},
        query=("X-Amz-Credential",),
    ),
    Operation(method="GET", path="/signed/{key}", headers={"Authorization": ""}),
)

VERCEL = (
    Operation(
        method="POST",
        path="/v2/files",
        headers=BEARER | {"x-vercel-digest": "[0-9a-f]{40}", "Content-Length": "[0-9]+"},
        query=("teamId",),
    ),
    Operation(
        method="POST",
        path="/v13/deployments",
        headers=BEARER,
        query=("skipAutoDetectionConfirmation", "forceNew", "teamId"),
        required=("name", "files[].file", "files[].sha", "files[].size"),
        optional=("target", "meta.*", "projectSettings.framework", "project", "autoAssignCustomDomains"),
    ),
    Operation(
        method="GET",
        path="/v6/deployments",
        headers=BEARER,
        query=("app", "target", "limit", "state", "teamId", "meta-milepostRelease"),
    ),
    Operation(method="GET", path="/v9/projects/{project}", headers=BEARER, query=("teamId",)),
    Operation(method="POST", path="/v10/projects/{project}/promote/{deployment}", headers=BEARER, query=("teamId",)),
    Operation(method="POST", path="/v1/projects/{project}/rollback/{deployment}", headers=BEARER, query=("teamId",)),
    Operation(
        method="GET", path="/v3/deployments/{deployment}/events", headers=BEARER, query=("limit", "direction", "teamId")
    ),
)
