"""The tables of the memory: one schema for SQLite, PostgreSQL and libSQL. Rows are added and never changed.

What changes is told by further rows: an episode's end, a lesson's states, votes. So a row that comes twice is the same
row, and whoever has all rows knows all there is. Only `forget` takes rows away, and leaves one that says so.
"""

from __future__ import annotations

VERSION = 2

SCHEMA = """
    create table if not exists memory_versions (version bigint primary key, at double precision not null);
    create table if not exists memory_episodes (
        {rowid}
        id text primary key, project text not null, run text not null, task text not null, attempt bigint not null,
        agent text not null, title text not null, kind text not null, owner text not null,
        at double precision not null, body text not null, digest text not null);
    create index if not exists memory_episodes_by_project on memory_episodes (project);
    create table if not exists memory_steps (
        {rowid}
        episode text not null, number bigint not null, tool text not null, result text not null,
        signature text not null, at double precision not null, body text not null, digest text not null,
        primary key (episode, number));
    create table if not exists memory_endings (
        {rowid}
        episode text primary key, project text not null, kind text not null, verdict text not null,
        reward double precision not null, at double precision not null, body text not null, digest text not null);
    create table if not exists memory_lessons (
        {rowid}
        id text primary key, project text not null, kind text not null, scope text not null, subject text not null,
        source text not null, at double precision not null, body text not null, digest text not null);
    create table if not exists memory_supports (
        {rowid}
        lesson text not null, episode text not null, at double precision not null, digest text not null,
        primary key (lesson, episode));
    create table if not exists memory_states (
        {rowid}
        lesson text not null, number bigint not null, state text not null, why text not null,
        at double precision not null, digest text not null, primary key (lesson, number));
    create table if not exists memory_showings (
        {rowid}
        lesson text not null, episode text not null, arm text not null, at double precision not null,
        digest text not null, primary key (lesson, episode));
    create table if not exists memory_votes (
        {rowid}
        lesson text not null, episode text not null, effect text not null, at double precision not null,
        digest text not null, primary key (lesson, episode));
    create table if not exists memory_forgotten (
        {rowid}
        kind text not null, id text not null, why text not null, at double precision not null, digest text not null,
        primary key (kind, id));
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
    "memory_states": ("lesson", "number"),
    "memory_showings": ("lesson", "episode"),
    "memory_votes": ("lesson", "episode"),
    "memory_forgotten": ("kind", "id"),
}
