"""The tables of the memory: one schema for SQLite, PostgreSQL and libSQL. Rows are added and never changed.

What changes is told by further rows: an episode's end, a lesson's states, votes. So a row that comes twice is the same
row, and whoever has all rows knows all there is. Only `forget` takes rows away, and leaves one that says so.

`rowid` counts up and is never used again, also when rows were taken away: who has seen all up to one reads on from it.
"""

from __future__ import annotations

VERSION = 2

SCHEMA = """
    create table if not exists memory_versions (version bigint primary key, at double precision not null);
    create table if not exists memory_episodes (
        rowid {serial},
        id text not null unique, project text not null, run text not null, task text not null, attempt bigint not null,
        agent text not null, title text not null, kind text not null, owner text not null,
        at double precision not null, body text not null, digest text not null);
    create index if not exists memory_episodes_by_project on memory_episodes (project, at);
    create index if not exists memory_episodes_by_run on memory_episodes (run);
    create table if not exists memory_steps (
        rowid {serial},
        episode text not null, number bigint not null, tool text not null, result text not null,
        signature text not null, at double precision not null, body text not null, digest text not null,
        unique (episode, number));
    create table if not exists memory_endings (
        rowid {serial},
        episode text not null unique, project text not null, kind text not null, verdict text not null,
        judged bigint not null, reward double precision not null, at double precision not null, body text not null,
        digest text not null);
    create index if not exists memory_endings_by_time on memory_endings (at);
    create index if not exists memory_endings_by_project on memory_endings (project, at, verdict, kind);
    create index if not exists memory_endings_by_kind on memory_endings (kind, at, verdict);
    create table if not exists memory_lessons (
        rowid {serial},
        id text not null unique, project text not null, kind text not null, scope text not null, subject text not null,
        source text not null, at double precision not null, body text not null, digest text not null);
    create index if not exists memory_lessons_by_project on memory_lessons (project);
    create table if not exists memory_supports (
        rowid {serial},
        lesson text not null, episode text not null, at double precision not null, digest text not null,
        unique (lesson, episode));
    create index if not exists memory_supports_by_episode on memory_supports (episode);
    create table if not exists memory_states (
        rowid {serial},
        lesson text not null, number bigint not null, state text not null, why text not null,
        at double precision not null, digest text not null, unique (lesson, number, digest));
    create table if not exists memory_showings (
        rowid {serial},
        lesson text not null, episode text not null, arm text not null, at double precision not null,
        digest text not null, unique (lesson, episode));
    create index if not exists memory_showings_by_episode on memory_showings (episode);
    create table if not exists memory_votes (
        rowid {serial},
        lesson text not null, episode text not null, effect text not null, at double precision not null,
        digest text not null, unique (lesson, episode));
    create index if not exists memory_votes_by_episode on memory_votes (episode);
    create table if not exists memory_forgotten (
        rowid {serial},
        kind text not null, id text not null, why text not null, at double precision not null, digest text not null,
        unique (kind, id));
"""

# Only where a primary is to be brought up to date: what it has not been told yet.
OUTBOX = """
    create table if not exists memory_outbox (number {serial}, name text not null, body text not null);
"""

# The columns of each table that say which row it is.
KEYS: dict[str, tuple[str, ...]] = {
    "memory_episodes": ("id",),
    "memory_steps": ("episode", "number"),
    "memory_endings": ("episode",),
    "memory_lessons": ("id",),
    "memory_supports": ("lesson", "episode"),
    # Two machines may move a lesson at once, each not knowing of the other: both rows are kept.
    "memory_states": ("lesson", "number", "digest"),
    "memory_showings": ("lesson", "episode"),
    "memory_votes": ("lesson", "episode"),
    "memory_forgotten": ("kind", "id"),
}

# The columns of each table that name an episode or a lesson: with what they name, the row is forgotten.
NAMING: dict[str, dict[str, str]] = {
    "memory_episodes": {"id": "episode"},
    "memory_steps": {"episode": "episode"},
    "memory_endings": {"episode": "episode"},
    "memory_lessons": {"id": "lesson"},
    "memory_supports": {"lesson": "lesson", "episode": "episode"},
    "memory_states": {"lesson": "lesson"},
    "memory_showings": {"lesson": "lesson", "episode": "episode"},
    "memory_votes": {"lesson": "lesson", "episode": "episode"},
}

# Columns with a number that need not be whole.
REALS = frozenset({"at", "reward"})
