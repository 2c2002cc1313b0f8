import pytest


@pytest.fixture
def line():
    return "level=info took=3ms"
