from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.secrets.decoded_views import MOST, decoded_views
from milepost.core.verdict import CheckResult
from milepost.verify.checks.secrets import SecretsCheck
from milepost.verify.credentials import leaks, masked_file

# Put together, so that no scanner takes this file for a leak.
GITHUB = "ghp_" + "k3J9vQ2mZx7LpR4tYw8Nb6Hs1Df5Gc0AeUiO"
AMAZON = "AKIA" + "QX7R2M9ZK4LP8TWB"
DRAWN = "tR7" + "qLw9ZxK2mVb4NpY8s"
KEY = (
    "-----BEGIN RSA "
    + "PRIVATE KEY-----\nMIIEowIBAAKCAQEAx7Lw9ZxK2mVb4NpY8sQ2mZx7LpR4tYw8Nb6Hs1Df5Gc0\n-----END RSA "
    + "PRIVATE KEY-----\n"
)


def checked(path: str, after: str, before: str | None = None) -> CheckResult:
    file = ChangedFile(path=path, before=before.encode() if before is not None else None, after=after.encode())
    workspace = Workspace(folder=Path("/nowhere"), scratch=Path("/nowhere"), base="0" * 40)
    return SecretsCheck(change=Change(files=(file,))).run(workspace)


@pytest.mark.parametrize(
    ("path", "text", "secret"),
    [
        ("app.py", f"TOKEN = '{GITHUB}'\n", GITHUB),
        ("tests/test_a.py", f"TOKEN = '{GITHUB}'\n", GITHUB),
        ("config.yml", f"aws: {AMAZON}\n", AMAZON),
        ("app.py", f'api_key = "{DRAWN}"\n', DRAWN),
        ("app.js", f"const config = {{ apiKey: '{DRAWN}' }}\n", DRAWN),
        ("settings.json", f'{{"db_password": "{DRAWN}"}}\n', DRAWN),
        (".env", f"DB_PASSWORD={DRAWN}\n", DRAWN),
        ("id_rsa", KEY, "MIIEowIBAAKCAQEAx"),
        ("app.py", f'URL = "postgres://app:{DRAWN}@db.internal/app"\n', DRAWN),
        ("app.py", "T = '" + "sk_live_" + DRAWN + "'\n", DRAWN),
    ],
)
def test_a_credential_is_found_and_never_shown(path: str, text: str, secret: str) -> None:
    result = checked(path, text)
    assert result.outcome == "failed"
    assert path in result.summary
    assert secret not in repr(result)
    assert checked(path, f"{text}more\n", text).outcome == "passed"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("app.py", 'api_key = os.environ["API_KEY"]\npassword = getpass()\n'),
        ("app.py", 'password = "changeme"\ntoken = "your-token-here-123"\nsecret = "xxxxxxxxxxxx1"\n'),
        ("app.py", 'api_key = "example-key-1234567"\nTOKEN_URL = "https://host/oauth2/token"\n'),
        ("app.py", 'token_type = "bearer_token_v2"\nsecret_name = "database.password"\n'),
        (".env.example", "DB_PASSWORD=abcDEF123456xyz\n"),
        (".env", "DEBUG=1\nDB_PASSWORD=${FROM_VAULT}\n"),
        ("tests/test_a.py", f'password = "{DRAWN}"\n'),
        ("poetry.lock", f'token = "{DRAWN}"\nhash = "sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f9"\n'),
        ("package-lock.json", '"integrity": "sha512-9sKq2ZxK2mVb4NpY8stR7qLw=="\n'),
        ("app.py", 'URL = "postgres://postgres:postgres@localhost/app"\nX = "http://user:password@localhost"\n'),
        ("tests/test_b.py", "-----BEGIN PRIVATE KEY-----\\nabc\\n-----END PRIVATE KEY-----"),
        ("tests/test_c.py", 'TOKEN = "xoxb-1234567890-abc"\nOTHER = "sk-aaaaaaaaaaaaaaaaaaaa"\n'),
        ("README.md", "Set `TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`.\n"),
        ("app.py", "password = 'correct'\nif token == 'end_of_file':\n    pass\n"),
    ],
)
def test_examples_and_fakes_are_none(path: str, text: str) -> None:
    assert checked(path, text).outcome == "passed"


@pytest.mark.parametrize(
    ("file", "place"),
    [
        (ChangedFile(path="a.bin", before=None, after=b"\0" + GITHUB.encode()), "a.bin (a token)"),
        (ChangedFile(path="b.csv", before=b"", after=b"x,y\n" * 600_000 + GITHUB.encode()), "b.csv (a token)"),
        (ChangedFile(path=f"keys/{GITHUB}/a", before=None, after=b""), "keys/[secret]/a (a secret in its name)"),
        (
            ChangedFile(path="link", before=None, after=f"to/{GITHUB}".encode(), mode="120000"),
            "link (a secret in what the link points to)",
        ),
    ],
)
def test_a_credential_is_found_in_all_that_a_commit_keeps_of_a_file(file: ChangedFile, place: str) -> None:
    assert [*leaks(file)] == [place]
    masked = masked_file(file)
    assert masked is not None
    assert GITHUB not in masked.path and GITHUB.encode() not in masked.content


def test_a_file_is_kept_with_nothing_masked_but_its_new_credentials() -> None:
    before = f"old = '{GITHUB}'\nx = 1\n".encode()
    file = ChangedFile(path="app.py", before=before, after=before + f"a = '{AMAZON}'\npassword = '{DRAWN}'\n".encode())
    masked = masked_file(file)
    assert masked is not None
    assert masked.content == before + b"a = '[secret]'\n[secret]\n"
    assert masked.places == ("app.py:3 (a token)", "app.py:4 (what looks like a password or key)")


def test_names_that_only_look_like_tokens_stay() -> None:
    for path in ("sk-learn-examples-of-models.py", "docs/xoxb-1234567890-abc.md", "src/AIza.py"):
        assert masked_file(ChangedFile(path=path, before=None, after=b"x\n")) is None


def _zipped(content: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("a.txt", content)
    return archive.getvalue()


def _tarred(content: bytes) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:xz") as opened:
        about = tarfile.TarInfo("a.txt")
        about.size = len(content)
        opened.addfile(about, io.BytesIO(content))
    return archive.getvalue()


LINE = f"token = {GITHUB}\n"
LONG = b"0123456789 " * 9 + LINE.encode()
ENCODED = {
    "after a byte that is no text": b"\0\xff" + GITHUB.encode(),
    "after a letter": f"\xe9{GITHUB}".encode(),
    "two tokens": f"\0{GITHUB}\0{AMAZON}".encode(),
    **{name: LINE.encode(name) for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be")},
    "base64": b'KEY = "' + base64.b64encode(LINE.encode()) + b'"\n',
    "base64 in lines": base64.encodebytes(LONG),
    "base64 for addresses": base64.urlsafe_b64encode(b"\xff\xfe" + LINE.encode()),
    "base64 in quotes": b"".join(b'    "%s"\n' % line[:76] for line in base64.encodebytes(LONG).splitlines()),
    "hex": LINE.encode().hex().encode(),
    "numbers in hex": ", ".join(map(hex, LINE.encode())).encode(),
    "gzip": gzip.compress(LINE.encode()),
    "bz2": bz2.compress(LINE.encode()),
    "xz": lzma.compress(LINE.encode()),
    "zlib": b"\0" * 9 + zlib.compress(LINE.encode()),
    "zip": _zipped(LINE.encode()),
    "tar": _tarred(LINE.encode()),
    "a zip archive in gzip in base64": base64.b64encode(gzip.compress(_zipped(LINE.encode()))),
    "a private key": b"\0" + KEY.encode(),
}


@pytest.mark.parametrize("content", [pytest.param(content, id=name) for name, content in ENCODED.items()])
@pytest.mark.parametrize("path", ["app.py", "tests/data.bin"])
def test_an_encoded_credential_is_found_and_not_kept(path: str, content: bytes) -> None:
    file = ChangedFile(path=path, before=None, after=content)
    kept = masked_file(file)
    assert kept is not None and GITHUB not in repr(kept)
    assert [*leaks(ChangedFile(path=path, before=None, after=kept.content))] == []
    assert [*leaks(ChangedFile(path=path, before=content, after=content + b"\n"))] == []


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zlib.compress, _zipped])
def test_what_grows_without_end_is_read_within_bounds(pack: Callable[[bytes], bytes]) -> None:
    bomb = pack(bytes(50_000_000))
    assert sum(map(len, decoded_views(bomb))) <= MOST
    assert [*leaks(ChangedFile(path="a.bin", before=None, after=bomb))] == []
