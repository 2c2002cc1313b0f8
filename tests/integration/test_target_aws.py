"""A release on Elastic Beanstalk with the real aws client; each request is held to botocore's own model."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from milepost.core.errors import TargetRefused
from milepost.core.shipping import ArtifactKind, Release
from milepost.ship.targets import open_target
from milepost.ship.targets.vendor import VendorTarget
from milepost.ship.vendor_shell import VendorShell
from tests.fakes.vendor_server import Answer, Asked, vendor_server
from tests.live.installed import needed
from tests.unit.ship.targets.samples import LABEL, release, spec

VALUE = "postgres-of-the-shop-4711"
SPEC = spec("aws", region="eu-west-1", secrets=(("DB_URL", "PROD_DB_URL"),), instances=(2, 4), health_path="/health")
EXPIRED = (
    "<ErrorResponse><Error><Code>ExpiredToken</Code><Message>The token is expired</Message></Error></ErrorResponse>"
)


class Beanstalk:
    """One environment that is ready at once, unless `status` says otherwise."""

    def __init__(self, model: dict[str, Any]) -> None:
        self.model = model
        self.status, self.health, self.version = "Ready", "Green", "r1-old"
        self.versions: set[str] = {"r1-old"}
        self.actions: list[str] = []
        self.settings: dict[str, str] = {}
        self.uploaded: dict[str, bytes] = {}
        self.refuse: tuple[int, str] | None = None

    def __call__(self, asked: Asked) -> Answer:
        if self.refuse is not None:
            return self.refuse
        if asked.method == "PUT":
            self.uploaded[asked.path] = asked.body
            return 200, ""
        given = dict(parse_qsl(asked.body.decode(), keep_blank_values=True))
        action = given.pop("Action")
        given.pop("Version")
        operation = self.model["operations"][action]
        if "input" in operation:
            held_to(self.model["shapes"], operation["input"]["shape"], given)
        self.actions.append(action)
        said = getattr(self, f"_{action}", lambda _: "")(given)
        return 200, f"<{action}Response><{action}Result>{said}</{action}Result></{action}Response>"

    def _CreateStorageLocation(self, _: dict[str, str]) -> str:  # noqa: N802
        return "<S3Bucket>elasticbeanstalk-eu-west-1-1</S3Bucket>"

    def _DescribeApplicationVersions(self, given: dict[str, str]) -> str:  # noqa: N802
        named = given["VersionLabels.member.1"]
        found = f"<member><VersionLabel>{named}</VersionLabel></member>" if named in self.versions else ""
        return f"<ApplicationVersions>{found}</ApplicationVersions>"

    def _CreateApplicationVersion(self, given: dict[str, str]) -> str:  # noqa: N802
        assert f"/{given['SourceBundle.S3Bucket']}/{given['SourceBundle.S3Key']}" in self.uploaded
        self.versions.add(given["VersionLabel"])
        return ""

    def _UpdateEnvironment(self, given: dict[str, str]) -> str:  # noqa: N802
        assert self.status == "Ready", "Beanstalk refuses an update unless the environment is ready"
        self.version = given.get("VersionLabel", self.version)
        for name, value in given.items():
            if match := re.fullmatch(r"(OptionSettings\.member\.\d+)\.OptionName", name):
                self.settings[value] = given[f"{match[1]}.Value"]
        return ""

    def _DescribeEnvironments(self, _: dict[str, str]) -> str:  # noqa: N802
        return (
            f"<Environments><member><EnvironmentName>shop-prod</EnvironmentName><Status>{self.status}</Status>"
            f"<VersionLabel>{self.version}</VersionLabel><Health>{self.health}</Health>"
            f"<AbortableOperationInProgress>{str(self.status == 'Updating').lower()}</AbortableOperationInProgress>"
            "</member></Environments>"
        )


def held_to(shapes: dict[str, Any], name: str, given: dict[str, str]) -> None:
    """Every member is one of the shape's, and whatever the shape requires is there."""
    shape = shapes[name]
    if shape["type"] == "structure":
        members = shape["members"]
        assert {key.split(".")[0] for key in given} <= set(members), (name, given)
        assert set(shape.get("required", ())) <= {key.split(".")[0] for key in given}, (name, given)
        for member, of in members.items():
            inner = {key.partition(".")[2]: value for key, value in given.items() if key.split(".")[0] == member}
            if inner:
                held_to(shapes, of["shape"], inner)
    elif shape["type"] == "list":
        for key in {re.match(r"member\.\d+", key)[0] for key in given}:  # type: ignore[index]
            inner = {each[len(key) + 1 :]: value for each, value in given.items() if each.startswith(key)}
            held_to(shapes, shape["member"]["shape"], inner)
    elif "enum" in shape:
        assert given[""] in shape["enum"]


@pytest.fixture
def beanstalk(tmp_path: Path) -> Iterator[tuple[Beanstalk, VendorTarget, Release]]:
    client = needed("aws")
    (model,) = client.parents[1].glob("lib/python*/site-packages/**/elasticbeanstalk/*/service-2.json*")
    content = model.read_bytes()
    fake = Beanstalk(json.loads(gzip.decompress(content) if model.suffix == ".gz" else content))
    wheel = tmp_path / "shop-1.2.0-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    with vendor_server() as server:
        server.answers = fake
        environ = {
            "PATH": f"{client.parent}:/usr/bin:/bin",
            "HOME": str(tmp_path),
            "AWS_ENDPOINT_URL": server.address,
            "AWS_ACCESS_KEY_ID": "nobody",
            "AWS_SECRET_ACCESS_KEY": "nobodys-secret-key",
            "AWS_MAX_ATTEMPTS": "1",
            "PROD_DB_URL": VALUE,
        }
        shell = VendorShell(environ, tmp_path, pause=lambda _: None)
        target = open_target(SPEC, tmp_path / "handed-over", environ, shell=shell)
        yield fake, target, release(ArtifactKind.WHEEL, wheel)


def test_a_release_is_uploaded_and_given_to_the_environment_with_its_secrets_and_an_expired_token_is_told(
    beanstalk: tuple[Beanstalk, VendorTarget, Release], tmp_path: Path
) -> None:
    fake, target, now = beanstalk

    assert target.deploy(now) == LABEL

    assert fake.actions == [
        *("DescribeEnvironments", "DescribeApplicationVersions", "CreateStorageLocation", "CreateApplicationVersion"),
        *("DescribeEnvironments", "UpdateEnvironment"),
    ]
    assert fake.settings["DB_URL"] == VALUE
    assert (fake.settings["MinSize"], fake.settings["MaxSize"]) == ("2", "4")
    ((_, uploaded),) = fake.uploaded.items()
    bundle = zipfile.ZipFile(io.BytesIO(uploaded))
    assert bundle.read("Procfile") == b"web: shop --serve\n"
    assert bundle.read("requirements.txt") == b"./shop-1.2.0-py3-none-any.whl\n"
    assert list((tmp_path / "handed-over").iterdir()) == []
    fake.refuse = 403, EXPIRED
    with pytest.raises(TargetRefused, match=r"aws does not accept the credentials: .*ExpiredToken") as refused:
        target.health(now)
    assert refused.value.advice == "sign in (aws sso login, or aws configure)"
