"""How risky a task is, by the words of its title, text and files: whether a person should look before it lands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from milepost.core.task import Task

Level = Literal["low", "high"]

# Whole words, also as parts of names such as `user_login.py` or `OAuthClient`; a space is any gap between two words.
_NAMES: Mapping[str, str] = {
    "access": "auth authn authz authentication authenticate authenticates authenticated authenticating authorization "
    "authorisation authorize authorise oauth oauth2 oidc saml sso ldap login logins logout password passwords passwd "
    "passphrase jwt rbac acl permissions mfa 2fa totp csrf cors impersonate impersonation superuser",
    "payments": "billing billed payment payments payout payouts refund refunds stripe paypal braintree adyen "
    "chargeback chargebacks invoice invoices invoicing subscription subscriptions iban",
    "migrations": "migration migrations alembic flyway liquibase ddl",
    "infrastructure": "infrastructure terraform tfvars kubernetes k8s kubectl helm ansible pulumi cloudformation "
    "dockerfile containerfile deploy deploys deployed deployment deployments firewall ingress dns iam cicd vpc",
    "secrets": "secret secrets credential credentials apikey apikeys keystore keyring encrypt encrypts encryption "
    "decrypt decryption tls ssl certificate certificates kms",
    "production": "production prod pii gdpr hipaa",
}
_PHRASES: Mapping[str, tuple[str, ...]] = {
    "access": ("access control", "sign in", "log in", "two factor", "session token", "session cookie"),
    "payments": ("credit card", "debit card", "bank account"),
    "migrations": ("migrate data", "drop table", "drop column", "alter table", "schema change", "database schema"),
    "infrastructure": ("ci cd", "github workflows", "gitlab ci", "load balancer", "docker compose"),
    "secrets": ("api key", "api keys", "private key", "signing key", "access token", "access tokens"),
    "production": ("live database", "customer data", "personal data", "user data"),
}
_MIGRATE = re.compile(
    r"\bmigrat\w+ (?:\w+ ){0,4}(?:database|databases|db|schema|schemas|table|tables|column|columns)\b"
)
# In these the word means something else.
_INNOCENT = re.compile(r"\b(?:production rules?|migration guides?|deployment docs|secret santa|login shell)\b")
_FILES: Mapping[str, re.Pattern[str]] = {
    "infrastructure": re.compile(r"\.(tf|tfvars)$|(^|/)\.github/workflows/"),
    "secrets": re.compile(r"(^|/)\.env(\.\w+)?$|\.(pem|key|p12|pfx)$"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """How risky a task is, the topics that make it so, and the words that they were told by."""

    level: Level = "low"
    topics: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Why, for people: `about access and payments (login, refund)`; empty for a low risk."""
        if not self.topics:
            return ""
        topics = " and ".join(filter(None, [", ".join(self.topics[:-1]), self.topics[-1]]))
        return f"about {topics} ({', '.join(self.words)})"


def risk_of(task: Task) -> Risk:
    """The risk of a task with its subtasks."""
    found = [one for part in task.walk() for one in _reasons(part)]
    if not found:
        return Risk()
    topics = tuple(name for name in _NAMES if name in dict(found))
    words = tuple(dict.fromkeys(word for name in topics for topic, word in found if topic == name))
    return Risk(level="high", topics=topics, words=words)


def _reasons(task: Task) -> Iterator[tuple[str, str]]:
    """The topics of one item, each with the word or the file that tells it."""
    for text in (task.title, task.text, *task.files):
        yield from _told(text)
    for topic, pattern in _FILES.items():
        yield from ((topic, path) for path in task.files if pattern.search(path))


def _told(text: str) -> Iterator[tuple[str, str]]:
    plain = _INNOCENT.sub(" ", _words(text))
    for topic, pattern in _patterns():
        for word in pattern.findall(plain):
            yield topic, word
    for phrase in _MIGRATE.findall(plain):
        yield "migrations", phrase


def _words(text: str) -> str:
    """Text as lower-case words with one space between: `OAuthClient` and `oauth_client` as `oauth client`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", re.sub(r"\bOAuth", "Oauth", text))
    return " ".join(re.findall(r"[a-z0-9]+", apart.lower()))


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (topic, re.compile(rf"\b(?:{'|'.join((*_PHRASES[topic], *names.split()))})\b"))
        for topic, names in _NAMES.items()
    )
