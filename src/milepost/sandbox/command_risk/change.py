"""A change → the dangers in it: data that is dropped or deleted, files that decide what runs elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from milepost.core.change import Change, ChangedFile
from milepost.sandbox.command_risk.kinds import Danger, DangerKind
from milepost.sandbox.command_risk.sql import sql_losing

MANY = 10  # deleted files, from which on it is no tidying any more

_NAMES = (
    ".db .sqlite .sqlite3 .mdb .csv .tsv .parquet .feather .arrow .avro .xlsx .jsonl .ndjson .h5 .hdf5 .pkl .npy .npz "
    ".rdb .dump .bak"
)
_DATA = frozenset(_NAMES.split())
_TESTING = frozenset({"test", "tests", "fixtures", "testdata", "__snapshots__", "examples", "docs"})
_MIGRATION = re.compile(r"(^|/)(migrations?|migrate|versions|changelogs?)/[^/]+(/[^/]+)*$")
_MIGRATION_TYPES = (".py", ".rb", ".js", ".ts", ".sql", ".php", ".exs")
_BACKWARDS = re.compile(
    r"^(?:def (?:downgrade|down)\b|(?:exports\.|async )?down\s*[:=(]|public function down\b|async down\b"
    r"|\s*--\s*(?:\+goose\s+down|migrate:down|@?down)\b).*?(?=^(?:def |exports\.|class |@)|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_DROPS_IN_CODE = re.compile(
    r"\b(op\.drop_(?:table|column)|DeleteModel\(|RemoveField\(|drop_table\b|drop_column\b|remove_columns?\b|drop_all\("
    r"|dropTable\b|dropColumns?\b|removeColumn\b|dropSchema\b|dropIfExists\b|dropDatabase\b)"
)
_CI = re.compile(
    r"(^|/)\.((github|gitea|forgejo)/(workflows|actions)|circleci|buildkite|woodpecker)/"
    r"|(^|/)(Jenkinsfile|(\.gitlab-ci|\.travis|\.drone|azure-pipelines|bitbucket-pipelines|appveyor|cloudbuild)\.ya?ml)$"
)
_INFRASTRUCTURE = re.compile(
    r"\.(tf|tfvars|hcl|bicep)$|\.tf\.json$|(^|/)(Pulumi(\.\w+)?|serverless|Chart|kustomization|helmfile|playbook\S*)\.ya?ml$"
    r"|(^|/)cdk\.json$|(^|/)(terraform|k8s|kubernetes|helm|charts|ansible|playbooks)/.*\.(ya?ml|json|tpl|j2)$"
)
_DEPLOYED = re.compile(
    r"(^|/)(Procfile|(fly|netlify|wrangler)\.toml|(vercel|firebase)\.json|(render|app|heroku|skaffold)\.ya?ml)$"
)
_CONTAINERS = re.compile(
    r"(^|/)(Dockerfile|Containerfile)([.-]\w+)*$|\.dockerfile$|(^|/)(docker-)?compose([.-]\w+)*\.ya?ml$", re.IGNORECASE
)
_PLACES: tuple[tuple[DangerKind, re.Pattern[str], str], ...] = (
    ("cloud", _CI, "changes what CI runs with its permissions"),
    ("cloud", _INFRASTRUCTURE, "changes infrastructure"),
    ("cloud", _DEPLOYED, "changes how it is deployed"),
    ("containers", _CONTAINERS, "changes what runs in containers"),
)
_MANIFEST = re.compile(r"^apiVersion:\s*\S", re.MULTILINE)


def danger_of_change(change: Change) -> tuple[Danger, ...]:
    """Every danger in a change, a path at a time; empty for an ordinary one."""
    dangers = [danger for file in change.files for danger in _of_file(file)]
    gone = _really_gone(change)
    if len(gone) >= MANY:
        dangers.append(Danger(kind="filesystem", why=f"deletes {len(gone)} files", what=", ".join(gone[:3]) + " …"))
    return tuple(dangers)


def _of_file(file: ChangedFile) -> Iterator[Danger]:
    for kind, paths, why in _PLACES:
        if paths.search(file.path):
            yield Danger(kind=kind, why=why, what=file.path)
            return
    if file.path.endswith((".yaml", ".yml")) and _MANIFEST.search(file.text_after or file.text_before):
        yield Danger(kind="cloud", why="changes infrastructure", what=file.path)
    elif lost := _lost_by_migration(file):
        yield Danger(kind="database", why=lost, what=file.path)
    elif _is_data(file.path) and file.before and not file.after and not file.unread:
        yield Danger(kind="filesystem", why="deletes a file with data", what=file.path)


def _lost_by_migration(file: ChangedFile) -> str | None:
    path = PurePosixPath(file.path)
    is_migration = _MIGRATION.search(file.path) is not None and path.suffix in (
        ".py",
        ".rb",
        ".js",
        ".ts",
        ".sql",
        ".php",
        ".exs",
    )
    if is_migration and file.is_gone and path.name != "__init__.py":
        return "deletes a migration that may have run already"
    if file.is_gone or path.name.endswith((".down.sql", "_down.sql")) or not (is_migration or path.suffix == ".sql"):
        return None
    before, after = _BACKWARDS.sub("", file.text_before), _BACKWARDS.sub("", file.text_after)
    known = frozenset(before.splitlines())
    fresh = "\n".join(line for line in after.splitlines() if line not in known) if before else after
    if path.suffix != ".sql" and (found := _DROPS_IN_CODE.search(fresh)):
        return f"a migration that drops: {found[0].rstrip('(')}"
    return f"a migration that {why}" if (why := sql_losing(fresh)) else None


def _is_data(path: str) -> bool:
    folders = PurePosixPath(path).parts[:-1]
    return not _TESTING.intersection(folders) and (PurePosixPath(path).suffix.lower() in _DATA or "data" in folders)


def _really_gone(change: Change) -> list[str]:
    """The deleted files whose bytes did not just move elsewhere."""
    kept = {file.after for file in change.files if file.after is not None and file.is_new}
    return [file.path for file in change.files if file.is_gone and (not file.before or file.before not in kept)]
