"""What secrets look like: tokens that are known by themselves, and passwords that are known by what is before them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from milepost.core.secrets.word_search import AnyOf

MASK = "[secret]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One shape, and the `signs` of which a text with it has at least one: to look for them first is cheap.

    What the group `kept` of the pattern matches stays in the text.
    """

    signs: tuple[str, ...]
    pattern: re.Pattern[str]

    def masked(self, text: str) -> str:
        return self.pattern.sub(_mask, text) if any(sign in text for sign in self.signs) else text


def mask_shapes(text: str) -> str:
    """The text without what is a secret by its shape: tokens, and passwords because of what is before them."""
    return _mask_passwords(mask_tokens(text)) if has_signs(text) else text


def mask_tokens(text: str) -> str:
    """The text without what is a secret wherever it stands."""
    for shape in _TOKENS:
        text = shape.masked(text)
    return text


def tokens_in(text: str) -> Iterator[str]:
    """Each part of a text that is a secret wherever it stands."""
    for shape in _TOKENS:
        if any(sign in text for sign in shape.signs):
            yield from (found[0] for found in shape.pattern.finditer(text))


def has_signs(text: str) -> bool:
    """Whether any of a text may have the shape of a secret."""
    return _ALL_SIGNS(text)


def _mask_passwords(text: str) -> str:
    for shape in _PASSWORDS:
        text = shape.masked(text)
    return text


def _mask(found: re.Match[str]) -> str:
    return found.groupdict().get("kept", "") + MASK


def _shape(pattern: str, *signs: str, flags: int = 0) -> Shape:
    """In ASCII: a letter of another alphabet, or a byte that is no text, may stand right before a secret."""
    return Shape(signs=signs, pattern=re.compile(pattern, flags | re.ASCII))


_TOKENS = (
    _shape(r"\bsk-[A-Za-z0-9_-]{16,}", "sk-"),  # OpenAI, Anthropic
    _shape(r"\bgh[pousr]_[A-Za-z0-9]{20,}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),  # GitHub
    _shape(r"\bgithub_pat_[A-Za-z0-9_]{20,}", "github_pat_"),
    _shape(r"\bglpat-[A-Za-z0-9_-]{16,}", "glpat-"),  # GitLab
    _shape(r"\bxox[abeprs]-[A-Za-z0-9-]{10,}", "xox"),  # Slack
    _shape(r"\bxapp-[A-Za-z0-9-]{20,}", "xapp-"),
    _shape(r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9_/]{20,}", "hooks.slack.com/"),
    _shape(r"\bA(?:KIA|SIA)[0-9A-Z]{16}\b", "AKIA", "ASIA"),  # AWS
    _shape(r"\bAIza[0-9A-Za-z_-]{30,}", "AIza"),  # Google
    _shape(r"\bya29\.[A-Za-z0-9_-]{30,}", "ya29."),
    _shape(r"\bGOCSPX-[A-Za-z0-9_-]{20,}", "GOCSPX-"),
    _shape(r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}", "k_live_", "k_test_"),  # Stripe
    _shape(r"\bwhsec_[A-Za-z0-9+/]{24,}", "whsec_"),
    _shape(r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", "SG."),  # SendGrid
    _shape(r"\bnpm_[A-Za-z0-9]{36}\b", "npm_"),
    _shape(r"\bpypi-[A-Za-z0-9_-]{32,}", "pypi-"),
    _shape(r"\bhf_[A-Za-z0-9]{30,}", "hf_"),  # Hugging Face
    _shape(r"\bdo[opr]_v1_[a-f0-9]{64}\b", "_v1_"),  # DigitalOcean
    _shape(r"\beyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}", "eyJ"),  # a signed web token
    _shape(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", "-----BEGIN", flags=re.DOTALL
    ),
)

# In addresses, headers, lines of settings.
_PASSWORDS = (
    _shape(r"(?P<kept>://[^\s/:@'\"<>{}$]{0,100}:)[^\s/@'\"<>{}$]{1,500}(?=@)", "://"),
    _shape(
        r"(?P<kept>\b(?:proxy-)?authorization[\"']?\s?[:=]\s?[\"']?(?:bearer|basic|token|digest)\s)[^\s\"']{6,}",
        *("uthorization", "UTHORIZATION"),
        flags=re.IGNORECASE,
    ),
    _shape(r"(?P<kept>\bbearer\s)[A-Za-z0-9._~+/-]{16,}=*", "earer ", "EARER ", flags=re.IGNORECASE),
    _shape(
        r"(?P<kept>\baws_?secret_?(?:access_?)?key\b[\"']?\s?[:=]\s?[\"']?)[A-Za-z0-9/+=]{30,}",
        *("ws_secret", "WS_SECRET", "wsSecret", "wsSECRET"),
        flags=re.IGNORECASE,
    ),
    _shape(r"(?P<kept>\bSecretAccessKey[\"']?\s?[:=]\s?[\"']?)[A-Za-z0-9/+=]{30,}", "SecretAccessKey"),
    _shape(r"(?P<kept>\b(?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{40,}=*", "AccountKey=", "SharedAccessKey="),
    _shape(r"(?P<kept>[?&]sig=)[A-Za-z0-9%+/]{30,}", "sig="),  # an address that Azure has signed
)

_ALL_SIGNS = AnyOf(sign for shape in (*_TOKENS, *_PASSWORDS) for sign in shape.signs)
