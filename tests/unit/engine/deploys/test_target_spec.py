"""A target by its section, and by what an environment has of its own."""

from pathlib import Path

import pytest

from milepost.core.errors import Misuse, SettingInvalid, SettingsNotAgreed, TargetUnknown
from milepost.engine.deploys.target_spec import spec_named, spec_of
from milepost.engine.project.settings.settings import Settings

SHOP = {
    "command": ["python3", "app.py"],
    "instances": [2],
    "variables": {"MODE": "plain", "COLOUR": "blue"},
    "secrets": {"TOKEN": "DEV_TOKEN"},
    "prod": {"instances": [2, 6], "variables": {"MODE": "fast"}, "secrets": {"TOKEN": "PROD_TOKEN"}, "soak_s": 120},
}


def test_an_environment_has_what_it_says_itself_and_else_what_the_target_says() -> None:
    settings = Settings.model_validate({"targets": {"shop": SHOP}})
    dev, prod = (spec_of(settings, "shop", environment, application="x") for environment in ("dev", "prod"))
    assert (dev.instances, prod.instances) == ((2, 2), (2, 6))
    assert dict(prod.variables) == {"MODE": "fast", "COLOUR": "blue"}
    assert dict(dev.secrets) == {"TOKEN": "DEV_TOKEN"}
    assert dict(prod.secrets) == {"TOKEN": "PROD_TOKEN"}
    assert (dev.soak_s, prod.soak_s, dev.command) == (30, 120, ("python3", "app.py"))
    assert (dev.approve, prod.approve) == (False, True)


def test_local_is_a_target_without_a_section_and_others_are_not() -> None:
    assert spec_of(Settings(), "local", "dev", application="shop").kind == "local"
    with pytest.raises(TargetUnknown, match="no target 'shop'"):
        spec_of(Settings(), "shop", "dev", application="shop")
    with pytest.raises(Misuse, match="no environment 'live'"):
        spec_named(Path("/nowhere"), "local", "live")


@pytest.mark.parametrize(
    "section",
    [
        '[targets."../x"]\nport = 80',
        "[targets.local]\nport = 0",
        '[targets.local]\nhealth_path = "health"',
        "[targets.local]\ninstances = [3, 2]",
        '[targets.local]\nvariables = { "A=B" = "c" }',
        '[targets.local]\nkind = "moon"',
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, section: str) -> None:
    (tmp_path / "milepost.toml").write_text(section)
    with pytest.raises(SettingInvalid):
        spec_named(tmp_path, "local", "dev")


@pytest.mark.parametrize(
    ("section", "asked"),
    [
        ('command = ["sh"]', "targets.local.command"),
        ('prod.secrets = { A = "AWS_SECRET_ACCESS_KEY" }', "targets.local.prod.secrets"),
        ('kind = "aws"', "targets.local.kind"),
        ("prod.approve = false", "targets.local.prod.approve"),
        ("instances = [50]", "targets.local.instances"),
        ("approve = true", ""),
        ("instances = [2, 4]\nsoak_s = 5", ""),
    ],
)
def test_what_reaches_beyond_the_repository_asks_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, section: str, asked: str
) -> None:
    monkeypatch.delenv("MILEPOST_YES_SETTINGS")
    (tmp_path / ".git").mkdir()
    (tmp_path / "milepost.toml").write_text(f"[targets.other]\ncommand = ['x']\n[targets.local]\n{section}\n")
    if not asked:
        spec_named(tmp_path, "local", "dev")
        return
    with pytest.raises(SettingsNotAgreed, match=asked.replace(".", r"\.")) as refused:
        spec_named(tmp_path, "local", "dev")
    assert "other" not in refused.value.message
