from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.verify.counterproof.testing_libraries import testing_libraries as libraries

MOCKS = "import os\nfrom unittest.mock import MagicMock\n\nclass Registry(MagicMock):\n    pass\n"
SPIES = "import { spy } from 'sinon';\nexport const run = spy();\n"


def used(folder: Path, path: str, after: str, task: str = "Find plugins", before: str = "") -> list[str]:
    change = Change(files=(ChangedFile(path=path, before=before.encode(), after=after.encode()),))
    return [f"{note.path}:{note.line} {note.what}" for note in libraries(change, (path,), task, folder)]


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("registry.py", MOCKS, "registry.py:2 uses unittest.mock"),
        ("registry.py", "\nfrom unittest import mock\n", "registry.py:2 uses unittest.mock"),
        ("src/a.py", "def f():\n    import pytest\n", "src/a.py:2 uses pytest"),
        ("src/a.py", "from hypothesis import strategies\n", "src/a.py:1 uses hypothesis"),
        ("src/a.js", SPIES, "src/a.js:1 uses sinon"),
        ("src/a.ts", "import { vi } from 'vitest';\n", "src/a.ts:1 uses vitest"),
        ("src/a.cjs", "const { mock } = require('node:test');\n", "src/a.cjs:1 uses node:test"),
    ],
)
def test_a_product_that_newly_uses_a_library_for_tests_is_shown_with_the_place(
    tmp_path: Path, path: str, text: str, told: str
) -> None:
    assert used(tmp_path, path, text) == [told]
    assert used(tmp_path, path, text + "\n", before=text) == []


@pytest.mark.parametrize(
    ("path", "text", "task"),
    [
        ("tests/helpers.py", MOCKS, ""),
        ("conftest.py", "import pytest\n", ""),
        ("vitest.config.ts", "import { vi } from 'vitest';\n", ""),
        ("src/a.js", "import { defineConfig } from 'vitest/config';\n", ""),
        ("src/a.js", "// import { spy } from 'sinon'\n", ""),
        ("src/a.py", "from .mock import value\nimport unittest\n", ""),
        ("src/plugin.py", "import pytest\n", "A pytest plugin that counts"),
        ("src/doubles.py", MOCKS, "Give users a mock client"),
    ],
)
def test_tests_settings_and_tasks_that_speak_of_it_may_use_one(tmp_path: Path, path: str, text: str, task: str) -> None:
    assert used(tmp_path, path, text, task) == []


def test_a_product_that_used_the_library_elsewhere_before_is_not_asked_about(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("import unittest.mock\n")

    assert used(tmp_path, "registry.py", MOCKS) == []
