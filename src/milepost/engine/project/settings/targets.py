"""The sections [targets.NAME] and, for one environment, [targets.NAME.prod]: where releases are deployed, and how."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from milepost.engine.project.settings.reach import SAFE, Asks, one_of
from milepost.engine.project.settings.section import SettingsSection

Environment = Literal["dev", "staging", "prod"]
Kind = Literal["local", "kubernetes", "aws", "gcp", "azure", "heroku", "digitalocean", "vercel", "netlify"]
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _is_a_path(given: str | None) -> str | None:
    if given is not None and (not given.startswith("/") or any(not 32 < ord(sign) < 127 for sign in given)):
        raise ValueError("is not a path such as /health")
    return given


def _are_variables(given: dict[str, str] | None) -> dict[str, str] | None:
    if wrong := [name for name in given or () if not _VARIABLE.fullmatch(name)]:
        raise ValueError(f"{wrong[0]!r} is not the name of a variable")
    return given


def _are_numbers(given: list[int] | None) -> list[int] | None:
    if given is not None and not (len(given) in (1, 2) and 1 <= given[0] <= given[-1] <= 1000):
        raise ValueError("is not [LEAST] or [LEAST, MOST], from 1 to 1000")
    return given


def are_target_names(given: dict[str, TargetSection]) -> dict[str, TargetSection]:
    if wrong := [name for name in given if not _NAME.fullmatch(name)]:
        raise ValueError(f"{wrong[0]!r} cannot be the name of a target: use small letters, digits and -")
    return given


class TargetValues(SettingsSection):
    """What is set for a target, or for one of its environments alone; what is absent is as for the whole target."""

    application: Annotated[str | None, Asks("deploys to this application, service or site")] = Field(
        None, description="What the target calls the application. Absent: the name of the repository's folder."
    )
    command: Annotated[list[str] | None, Asks("starts this command, outside of the sandbox")] = Field(
        None,
        description="How an instance is started, as in ['python', 'app.py', '--port', '{port}']; it also finds its "
        "port in PORT. Absent: as the artifact says.",
    )
    health_path: Annotated[str | None, AfterValidator(_is_a_path), SAFE] = Field(
        None, description="What every healthy instance answers with a status below 400. Absent: /."
    )
    instances: Annotated[
        list[int] | None,
        AfterValidator(_are_numbers),
        Asks("starts this many instances", unless=lambda value: max(value) <= 4),
    ] = Field(None, description="How many instances, as [LEAST, MOST] or [COUNT]. Absent: [1].")
    region: Annotated[str | None, Asks("deploys to this region")] = Field(
        None, description="Where the target runs it. Absent: the vendor's own default."
    )
    domain: Annotated[str | None, Asks("serves this domain")] = Field(
        None, description="The domain under which it is served. Absent: what the target gives it."
    )
    port: Annotated[int | None, SAFE] = Field(
        None, ge=1, le=65535, description="The port of a local target on this machine. Absent: a free one, kept."
    )
    variables: Annotated[
        dict[str, str] | None, AfterValidator(_are_variables), Asks("gives the application these variables")
    ] = Field(None, description="Environment variables of the application.")
    secrets: Annotated[
        dict[str, str] | None,
        AfterValidator(_are_variables),
        Asks("gives the application these variables of your environment"),
    ] = Field(
        None,
        description="Secrets of the application: its variable, and the name of your environment variable that holds "
        'the value, as in { DATABASE_URL = "PROD_DATABASE_URL" }.',
    )
    options: Annotated[dict[str, str] | None, Asks("tells the target's own client this")] = Field(
        None, description='What only this kind of target knows, such as { context = "staging" } for kubernetes.'
    )
    start_timeout_s: Annotated[float | None, SAFE] = Field(
        None, gt=0, le=3600, description="Seconds in which a release must become healthy. Absent: 60."
    )
    soak_s: Annotated[float | None, SAFE] = Field(
        None,
        ge=0,
        le=86_400,
        description="Seconds for which a release must stay healthy under traffic before it is live. Absent: 30.",
    )
    approve: Annotated[bool | None, Asks("deploys without asking a person", unless=one_of(True))] = Field(
        None, description="Whether a person is asked before anything is deployed. Absent: only for prod."
    )


class TargetSection(TargetValues):
    kind: Annotated[Kind, Asks("deploys to this kind of target", unless=one_of("local"))] = Field(
        "local", description="What it is deployed to."
    )
    dev: TargetValues = TargetValues()
    staging: TargetValues = TargetValues()
    prod: TargetValues = TargetValues()
