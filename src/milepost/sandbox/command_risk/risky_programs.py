"""Programs whose second word tells the danger: migrations, cloud, containers, publishing, as one table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from milepost.sandbox.command_risk.kinds import Danger, DangerKind, Piece
from milepost.sandbox.command_risk.options import NONE, options_of

_HELP = frozenset({"--help", "--dry-run", "--dryrun"})
_PREVIEWS = _HELP | {"--plan", "--check", "--sql", "--preview-only"}
_CONFIGS = frozenset({"-c", "--config", "-n", "--name", "-x", "--settings", "-A", "--app", "-e", "--env-file"})
_SPACES = frozenset({"-n", "--namespace", "--context", "--kubeconfig", "--cluster", "--user", "-s", "--server", "--as"})
_HOSTS = frozenset(
    ("-c", "--context", "-H", "--host", "-l", "--log-level", "--config", "-f", "--file", "-p", "--project-name")
) | {"--profile", "--env-file", "--project-directory"}
_BUILDS = frozenset({"-f", "--file", "-p", "-C", "--prefix", "--cwd", "--filter", "-w", "--workspace", "-pl", "-P"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Verbs:
    """Words of a program that do harm: `words` is matched from the first that is no option.

    `anywhere`: the word may stand after others. `needs`: only with one of these options. `unless`: not with one.
    """

    kind: DangerKind
    programs: tuple[str, ...]
    words: str
    why: str
    taking: frozenset[str] = NONE
    anywhere: bool = False
    needs: frozenset[str] = NONE
    unless: frozenset[str] = _HELP


def _rows(
    kind: DangerKind,
    why: str,
    *rows: tuple[str, str],
    taking: frozenset[str] = NONE,
    anywhere: bool = False,
    needs: frozenset[str] = NONE,
    unless: frozenset[str] = _HELP,
) -> tuple[Verbs, ...]:
    """Rows of programs and words that have the rest in common."""
    return tuple(
        Verbs(
            kind=kind,
            programs=tuple(programs.split()),
            words=words,
            why=why,
            taking=taking,
            anywhere=anywhere,
            needs=needs,
            unless=unless,
        )
        for programs, words in rows
    )


_MIGRATES = "changes the tables of a database"
_INFRASTRUCTURE = "changes or destroys infrastructure"
_CLOUD = "deletes cloud resources"
_CLUSTER = "changes what runs in a cluster"
_CONTAINERS = "deletes containers, images or volumes"
_PUBLISHES = "publishes, which cannot be undone"
_THINGS = "container|image|volume|network|system|builder|buildx|secret|config|service|stack|context|pod|machine"

TABLE = (
    *_rows(
        "database",
        _MIGRATES,
        ("alembic", "upgrade|downgrade|stamp"),
        ("manage.py django-admin django", "migrate|flush|reset_db"),
        ("flask", "db (upgrade|downgrade|stamp)"),
        ("prisma", "migrate (deploy|dev|reset|resolve)|db (push|execute)"),
        ("knex", "migrate:(latest|up|down|rollback)"),
        ("sequelize sequelize-cli", r"db:(migrate|drop)(:\S+)?"),
        ("typeorm", "migration:(run|revert)|schema:(drop|sync)"),
        ("drizzle-kit", "push|migrate|drop"),
        ("mix", r"ecto\.(migrate|rollback|drop|reset)"),
        ("artisan", "migrate(:(fresh|refresh|reset|rollback|install))?|db:wipe"),
        ("php", r"\S*artisan (migrate(:(fresh|refresh|reset|rollback))?|db:wipe)"),
        ("supabase", "db (reset|push)|migration up"),
        ("atlas", "schema (apply|clean)|migrate apply"),
        ("sqlx diesel", "migrate (run|revert)|migration (run|revert|redo)|database (drop|reset)"),
        taking=_CONFIGS,
        unless=_PREVIEWS,
    ),
    *_rows(
        "database",
        _MIGRATES,
        ("rails rake", r"db:(migrate|drop|reset|rollback|schema:load|setup|truncate_all|purge)(:\S+)?"),
        ("flyway", "migrate|clean|undo|repair"),
        ("liquibase", r"update\S*|rollback\S*|drop-?all"),
        ("goose dbmate migrate yoyo aerich", "up|down|drop|reset|redo|rollback|apply|upgrade|downgrade"),
        anywhere=True,
    ),
    *_rows(
        "cloud",
        _INFRASTRUCTURE,
        ("terraform tofu terragrunt", "apply|destroy|run-all (apply|destroy)|state (rm|push)|workspace delete"),
        ("pulumi", "up|update|destroy|stack rm|refresh"),
        ("cdk cdktf", "deploy|destroy"),
    ),
    *_rows(
        "cloud",
        _INFRASTRUCTURE,
        ("serverless sls sam copilot eb firebase amplify", r"deploy\S*|remove|delete\S*|terminate"),
        anywhere=True,
    ),
    *_rows(
        "cloud",
        "changes machines",
        ("ansible-playbook ansible", r"\S+"),
        taking=frozenset({"-i", "-e"}),
        unless=_HELP | {"--check", "-C", "--syntax-check", "--list-tasks", "--list-hosts", "--version"},
    ),
    *_rows(
        "cloud",
        _CLUSTER,
        ("kubectl oc", "delete|drain|replace|apply|patch|scale|edit|rollout (undo|restart)"),
        ("helm helmfile", "uninstall|delete|del|rollback|upgrade|install|destroy|apply|sync"),
        taking=_SPACES,
    ),
    *_rows(
        "cloud",
        _CLOUD,
        ("aws", r"(?:(?:batch-)?delete|terminate|remove|deregister|purge|destroy|disable|release|revoke)-\S+"),
        ("aws", "s3 (rm|rb)"),
        ("gcloud az doctl bq oci ibmcloud hcloud scw openstack wrangler", r"\S*delete\S*|destroy|purge|remove\S*|rm"),
        ("gsutil", "rm|rb"),
        ("fly flyctl vercel netlify railway", r"destroy|rm|remove|\S*:?delete|down"),
        ("heroku", r"(\S+:)?destroy|pg:reset|\S+:delete"),
        anywhere=True,
    ),
    *_rows("cloud", _CLOUD, ("aws gsutil", "(s3 )?(sync|rsync)"), needs=frozenset({"--delete", "-d"}), anywhere=True),
    *_rows("cloud", _CLOUD, ("s3cmd mc rclone azcopy", "rm|rb|del|remove|delete|purge|sync")),
    *_rows(
        "git",
        "deletes something at the repository's host",
        ("gh glab", "(repo|release|issue|label|secret|variable|run|gist) (delete|archive|remove)"),
    ),
    *_rows(
        "git",
        "changes something at the repository's host",
        ("gh glab", "api"),
        taking=frozenset({"-X", "--method", "-f", "-F", "-H"}),
        needs=frozenset({"-X", "--method"}),
    ),
    *_rows(
        "containers",
        _CONTAINERS,
        ("docker podman nerdctl", f"rm|rmi|({_THINGS}) (rm|remove|prune|reset)|compose rm|swarm leave"),
        ("docker-compose podman-compose", "rm"),
        taking=_HOSTS,
    ),
    *_rows(
        "containers",
        "deletes volumes and their data",
        ("docker podman nerdctl docker-compose podman-compose", "(compose )?down"),
        taking=_HOSTS,
        needs=frozenset({"-v", "--volumes", "--rmi"}),
    ),
    *_rows(
        "containers",
        "deletes a machine or a cluster",
        ("kind k3d minikube colima vagrant virsh", "delete|destroy|undefine"),
        anywhere=True,
    ),
    *_rows("packages", _PUBLISHES, ("docker podman nerdctl", "(image |compose )?push"), taking=_HOSTS),
    *_rows(
        "packages",
        _PUBLISHES,
        ("npm pnpm yarn bun", "publish|unpublish|deprecate|npm publish|(dist-tag|owner) (add|rm)"),
        ("twine", "upload"),
        ("poetry uv flit hatch pdm rye maturin", "publish|upload"),
        ("cargo", "publish|yank|owner"),
        ("gem", "push|yank"),
        ("dotnet nuget", "(nuget )?(push|delete)"),
        ("gh glab", "release (create|upload|edit)"),
        ("lerna changeset vsce ovsx helm", "publish|push"),
        ("goreleaser", "release"),
        taking=_BUILDS,
        unless=_HELP | {"--snapshot"},
    ),
    *_rows("packages", _PUBLISHES, ("semantic-release", ""), unless=_HELP | {"-d"}),
    *_rows(
        "packages",
        _PUBLISHES,
        ("setup.py", "upload|register"),
        ("mvn mvnw gradle gradlew", r"\S*deploy|\S*publish\S*|release:perform"),
        taking=_BUILDS,
        anywhere=True,
    ),
    *_rows(
        "packages",
        "removes programs from the machine",
        ("apt apt-get aptitude dnf yum zypper apk brew snap flatpak", "remove|purge|autoremove|erase|uninstall|del|rm"),
    ),
)


def danger_of_verb(piece: Piece) -> Danger | None:
    """The first row of the table that a piece meets."""
    for row in _by_program().get(piece.name, ()):
        options = options_of(piece.arguments, row.taking)
        said = " ".join(options.rest)
        if options.flags & row.unless or (row.needs and not options.flags & row.needs):
            continue
        pattern = rf"(?:^|.* )(?:{row.words})(?: |$)" if row.anywhere else rf"(?:{row.words})(?: |$)"
        if re.match(pattern, said):
            return Danger(kind=row.kind, why=row.why, what=" ".join(piece.words))
    return None


@cache
def options_taking_values(program: str) -> frozenset[str]:
    """The options of a program that take a value, as far as the table knows them."""
    return frozenset(option for row in _by_program().get(program, ()) for option in row.taking)


@cache
def _by_program() -> Mapping[str, tuple[Verbs, ...]]:
    rows: dict[str, tuple[Verbs, ...]] = {}
    for row in TABLE:
        for program in row.programs:
            rows[program] = (*rows.get(program, ()), row)
    return rows
