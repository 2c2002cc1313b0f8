"""Which files of a change are judged and which judge."""

from __future__ import annotations

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.verify.judging.layout import BaseFacts
from milepost.verify.judging.split import Split, judging, split

PYTHON = (
    *(
        "src/shop/__init__.py",
        "src/shop/cart.py",
        "src/shop/prices.json",
        "src/shop/page.html",
        "README.md",
        "Makefile",
    ),
    *("tests/conftest.py", "tests/test_cart.py", "tests/data/big.csv", "tests/helpers/shapes.py", "examples.txt"),
    *("scripts/check.py", "scripts/rules.py", "pyproject.toml", "docs/usage.md", "requirements.txt"),
)
FLAT = ("stats.py", "test_stats.py", "examples.txt", "Makefile", "run.py")
NODE = ("package.json", "src/app.ts", "src/app.test.ts", "src/app/app.config.ts", "vitest.config.ts", "locales/en.json")
GO = ("go.mod", "sum/sum.go", "sum/sum_test.go", "sum/testdata/in.txt", "main.go")
RUST = ("Cargo.toml", "src/lib.rs", "tests/it.rs", "build.rs", "Cargo.lock")


def facts(files: tuple[str, ...], tests: tuple[str, ...] = (), **seen: tuple[str, ...]) -> BaseFacts:
    return BaseFacts(
        files=frozenset(files), test_files=frozenset(tests), **{name: frozenset(paths) for name, paths in seen.items()}
    )


SHOP = facts(PYTHON, ("tests/test_cart.py",), opened=PYTHON, programs=("scripts/check.py",))


def changed(path: str) -> ChangedFile:
    return ChangedFile(path=path, before=b"old\n", after=b"new\n")


def added(path: str, content: bytes = b"new\n") -> ChangedFile:
    return ChangedFile(path=path, before=None, after=content)


def gone(path: str) -> ChangedFile:
    return ChangedFile(path=path, before=b"old\n", after=None, mode="000000")


def link(path: str, target: str, before: bytes | None = None) -> ChangedFile:
    return ChangedFile(path=path, before=before, after=target.encode(), mode="120000")


def standing(found: Split, path: str) -> str:
    """The one place where a path is."""
    places = ("judged", "restored", "left_out", "uncertain", "merged")
    (place,) = [place for place in places if path in getattr(found, place)]
    return place


def placed(file: ChangedFile, base: BaseFacts, *files: str) -> str:
    return standing(split(Change(files=(file,)), files, base), file.path)


@pytest.mark.parametrize(
    ("file", "place"),
    [
        (changed("src/shop/cart.py"), "judged"),
        (gone("src/shop/cart.py"), "judged"),
        (added("src/shop/tax.py"), "judged"),
        (added("src/shop/__init__.pyi"), "judged"),
        (added("newpackage/__init__.py"), "judged"),
        (added("main.py"), "judged"),
        (changed("requirements.txt"), "judged"),
        (added("uv.lock"), "judged"),
        (added("docs/tax.md"), "judged"),
        (added("CHANGELOG.md"), "judged"),
        (added("LICENSE"), "judged"),
        (added(".gitignore"), "judged"),
        (added(".env.example"), "judged"),
        # tests and what stands beside them
        (changed("tests/test_cart.py"), "restored"),
        (gone("tests/test_cart.py"), "restored"),
        (changed("tests/conftest.py"), "restored"),
        (changed("tests/data/big.csv"), "restored"),
        (gone("tests/data/big.csv"), "restored"),
        (changed("tests/helpers/shapes.py"), "restored"),
        (added("tests/__init__.py"), "left_out"),
        (added("tests/shop/__init__.py"), "left_out"),
        (added("Tests/test_cart.py"), "left_out"),
        (added("src/shop/conftest.py"), "left_out"),
        (added("src/shop/test_more.py"), "left_out"),
        (added("checks_of_old/test_cart.py"), "left_out"),
        # settings of runners and builds, and what git obeys
        (changed("Makefile"), "restored"),
        (gone("Makefile"), "restored"),
        (added("GNUmakefile"), "left_out"),
        (added("makefile"), "left_out"),
        (added("Makefile "), "left_out"),
        (added("MAKEFILE"), "left_out"),
        (added("rules.mk"), "left_out"),
        (added("docs/Makefile"), "left_out"),
        (added("justfile"), "left_out"),
        (added("Taskfile.yml"), "left_out"),
        (added("pytest.ini"), "left_out"),
        (added(".pytest.ini"), "left_out"),
        (added("tox.ini"), "left_out"),
        (added("noxfile.py"), "left_out"),
        (added("mypy.ini"), "left_out"),
        (added(".coveragerc"), "left_out"),
        (added(".env"), "left_out"),
        (added(".envrc"), "left_out"),
        (added(".github/workflows/test.yml"), "left_out"),
        (added(".gitattributes"), "left_out"),
        (added(".gitmodules"), "left_out"),
        (added("src/.gitattributes"), "left_out"),
        (added(".cargo/config.toml"), "left_out"),
        (added("sitecustomize.py"), "left_out"),
        (added("src/usercustomize.py"), "left_out"),
        (added("src/shop.pth"), "left_out"),
        (added("milepost.toml"), "left_out"),
        (added(".venv/bin/python"), "left_out"),
        (added("node_modules/jest/index.js"), "left_out"),
        # what the Verify lines start and open
        (changed("scripts/check.py"), "restored"),
        (changed("scripts/rules.py"), "restored"),
        (added("scripts/json.py"), "left_out"),
        (changed("examples.txt"), "restored"),
        (gone("examples.txt"), "restored"),
        # what may be the product's
        (changed("src/shop/prices.json"), "uncertain"),
        (changed("README.md"), "uncertain"),
        (changed("src/shop/page.html"), "judged"),
        (added("src/shop/taxes.json"), "uncertain"),
        (added("src/shop/core.zip"), "uncertain"),
        (added("src/shop/core.so"), "uncertain"),
        (added("src/shop/core.py", b"x = 1\0"), "uncertain"),
        (added("blob"), "uncertain"),
        (added("setup.py"), "uncertain"),
        (added("run.sh"), "uncertain"),
        (added("__init__.py"), "uncertain"),
        (added("SRC/shop/cart.py"), "uncertain"),
        # links
        (link("src/shop/out.py", "../../../secret.py"), "left_out"),
        (link("src/shop/out.py", "/etc/passwd"), "left_out"),
        (link("src/shop/out.py", "sub/../../../../x"), "left_out"),
        (link("src/shop/out.py", "down/../up.py"), "left_out"),
        (link("src/shop/cart.py", "/tmp/cart.py", b"old\n"), "restored"),
        (link("src/shop/cart.py", "../../tests/helpers/shapes.py", b"old\n"), "uncertain"),
        (link("src/lib", "shop"), "uncertain"),
        (link("Makefile", "other", b"old\n"), "restored"),
        (link("AGENTS.md", "README.md"), "judged"),
    ],
    ids=lambda value: value.path if isinstance(value, ChangedFile) else value,
)
def test_each_file_of_a_change_to_a_python_project_stands_in_its_place(file: ChangedFile, place: str) -> None:
    assert placed(file, SHOP) == place


@pytest.mark.parametrize(
    ("path", "files", "place"),
    [
        ("tests/test_cart.py", ("tests/test_cart.py",), "judged"),
        ("tests/test_cart.py", ("./tests/test_cart.py",), "judged"),
        ("tests/test_cart.py", ("tests",), "restored"),
        ("tests/test_cart.py", ("tests/",), "restored"),
        ("tests/test_cart.py", ("tests/*.py",), "restored"),
        ("tests/test_cart.py", ("**",), "restored"),
        ("Makefile", ("*",), "restored"),
        ("Makefile", ("Makefile",), "judged"),
        ("scripts/check.py", ("scripts/check.py",), "judged"),
        ("scripts/check.py", ("scripts",), "restored"),
        ("examples.txt", ("examples.txt",), "judged"),
        ("examples.txt", ("*.txt",), "uncertain"),
        ("src/shop/prices.json", ("src/shop/prices.json",), "judged"),
    ],
)
def test_only_an_exact_name_makes_a_file_that_judges_a_judged_one(
    path: str, files: tuple[str, ...], place: str
) -> None:
    assert placed(changed(path), SHOP, *files) == place


@pytest.mark.parametrize(
    ("path", "files", "place"),
    [
        ("src/shop/taxes.json", ("src/shop",), "judged"),
        ("src/shop/core.zip", ("src/shop",), "uncertain"),
        ("src/shop/core.zip", ("src/shop/core.zip",), "judged"),
        ("tests/test_tax.py", ("tests/test_tax.py",), "judged"),
        ("tests/test_tax.py", ("src", "tests"), "left_out"),
        ("run.sh", ("run.sh",), "judged"),
        ("web/app.ts", (), "uncertain"),
        ("web/app.ts", ("web",), "judged"),
    ],
)
def test_an_added_file_that_a_task_names_is_judged(path: str, files: tuple[str, ...], place: str) -> None:
    assert placed(added(path), SHOP, *files) == place


def test_what_a_task_names_and_judges_is_told() -> None:
    change = Change(files=(changed("tests/conftest.py"), changed("src/shop/cart.py"), added("tests/test_tax.py")))
    found = split(change, ("tests/conftest.py", "src/shop/cart.py", "tests/test_tax.py"), SHOP)
    assert found.named == ("tests/conftest.py", "tests/test_tax.py")
    assert found.tests == ("tests/test_tax.py",)
    assert found.is_candidate


def test_a_link_that_leads_out_is_not_there_though_a_task_names_it() -> None:
    assert placed(link("src/shop/out.py", "/etc/passwd"), SHOP, "src/shop/out.py") == "left_out"


def test_a_renamed_folder_of_tests_is_back_and_its_new_name_is_not_there() -> None:
    old = ("tests/conftest.py", "tests/test_cart.py", "tests/data/big.csv", "tests/helpers/shapes.py")
    new = tuple(path.replace("tests/", "old/") for path in old)
    found = split(Change(files=(*map(gone, old), *map(added, new))), (), SHOP)
    assert found.restored == tuple(sorted(old))
    assert {*found.left_out, *found.uncertain} >= {"old/conftest.py", "old/test_cart.py", "old/data/big.csv"}


def test_a_folder_of_tests_that_became_a_link_gives_way() -> None:
    old = ("tests/conftest.py", "tests/test_cart.py", "tests/data/big.csv", "tests/helpers/shapes.py")
    found = split(Change(files=(*map(gone, old), link("tests", "src/shop"))), (), SHOP)
    assert found.restored == tuple(sorted(old))
    assert found.left_out == ("tests",)


def test_a_check_that_became_a_folder_of_source_gives_way() -> None:
    found = split(Change(files=(gone("Makefile"), added("Makefile/cart.py"))), (), SHOP)
    assert (found.restored, found.left_out, found.judged) == (("Makefile",), ("Makefile/cart.py",), ())


def test_a_change_of_mode_alone_is_taken_back_where_the_file_judges() -> None:
    only_mode = ChangedFile(path="scripts/check.py", before=b"x", after=b"x", mode="100644")
    assert placed(only_mode, SHOP) == "restored"


def test_a_file_with_other_large_letters_only_is_the_same_file_renamed() -> None:
    found = split(Change(files=(gone("src/shop/cart.py"), added("src/shop/Cart.py"))), (), SHOP)
    assert found.judged == ("src/shop/Cart.py", "src/shop/cart.py")


def test_a_submodule_is_as_it_was_until_a_person_has_seen_it() -> None:
    moved = ChangedFile(path="vendor/lib", before=None, after=None, mode="160000")
    assert placed(moved, SHOP) == "uncertain"
    assert placed(moved, SHOP, "vendor/lib") == "judged"
    assert placed(ChangedFile(path="tests/cases", before=None, after=None, mode="160000"), SHOP) == "restored"


@pytest.mark.parametrize(
    ("base", "file", "place"),
    [
        # a flat project: what was seen to be opened judges where it is no source
        (facts(FLAT, ("test_stats.py",), opened=FLAT), changed("stats.py"), "judged"),
        (facts(FLAT, ("test_stats.py",), opened=FLAT), changed("examples.txt"), "restored"),
        (facts(FLAT, ("test_stats.py",)), changed("examples.txt"), "uncertain"),
        # a program that a Verify line names is the product where nothing says that it checks
        (facts(FLAT, programs=("run.py",)), changed("run.py"), "uncertain"),
        (facts((*FLAT, "verify_all.py"), programs=("verify_all.py",)), changed("verify_all.py"), "restored"),
        (facts((*FLAT, "ci.sh"), programs=("ci.sh",)), changed("ci.sh"), "restored"),
        (facts((*FLAT, "bin/x"), programs=("bin/x",)), changed("bin/x"), "restored"),
        # a base without anything that judges: an added file gets round nothing, and a person is asked
        (facts(("README.md", "app.py")), added("Makefile"), "uncertain"),
        (facts(("README.md", "app.py")), added("test_app.py"), "uncertain"),
        (facts(()), added("app.rs"), "judged"),
        (facts(()), added("lib/app.rb"), "judged"),
        # JavaScript
        (facts(NODE, ("src/app.test.ts",)), changed("src/app.ts"), "judged"),
        (facts(NODE, ("src/app.test.ts",)), changed("src/app.test.ts"), "restored"),
        (facts(NODE, ("src/app.test.ts",)), added("src/view.tsx"), "judged"),
        (facts(NODE, ("src/app.test.ts",)), changed("vitest.config.ts"), "restored"),
        (facts(NODE, ("src/app.test.ts",)), added("vitest.config.mts"), "left_out"),
        (facts(NODE, ("src/app.test.ts",)), added("jest.config.js"), "left_out"),
        (facts(NODE, ("src/app.test.ts",)), added("tailwind.config.js"), "left_out"),
        (facts(NODE, ("src/app.test.ts",)), changed("src/app/app.config.ts"), "judged"),
        (facts(NODE, ("src/app.test.ts",)), added(".mocharc.cjs"), "left_out"),
        (facts(NODE, ("src/app.test.ts",)), added(".npmrc"), "left_out"),
        (facts(NODE, ("src/app.test.ts",)), added("tsconfig.test.json"), "left_out"),
        (facts(NODE, ("src/app.test.ts",)), added("src/setupTests.ts"), "left_out"),
        (facts(NODE, ("src/app.test.ts",)), added("src/__mocks__/app.ts"), "left_out"),
        (facts(NODE, ("src/app.test.ts",)), added("src/data/cases.json"), "left_out"),
        (facts(NODE, ("src/app.test.ts",), opened=("locales/en.json",)), changed("locales/en.json"), "uncertain"),
        (facts(NODE, ("src/app.test.ts",)), changed("locales/en.json"), "judged"),
        # Go and Rust
        (facts(GO, ("sum/sum_test.go",), opened=GO), changed("sum/sum.go"), "judged"),
        (facts(GO, ("sum/sum_test.go",), opened=GO), changed("sum/sum_test.go"), "restored"),
        (facts(GO, ("sum/sum_test.go",), opened=GO), changed("sum/testdata/in.txt"), "restored"),
        (facts(GO, ("sum/sum_test.go",), opened=GO), changed("go.mod"), "judged"),
        (facts(GO, ("sum/sum_test.go",), opened=GO), added("go.work"), "left_out"),
        (facts(GO, ("sum/sum_test.go",), opened=GO), added("sum/more_test.go"), "left_out"),
        (facts(RUST, ("tests/it.rs",)), changed("src/lib.rs"), "judged"),
        (facts(RUST, ("tests/it.rs",)), changed("build.rs"), "restored"),
        (facts(RUST, ("tests/it.rs",)), added("src/money.rs"), "judged"),
        (facts(RUST, ("tests/it.rs",)), added("rust-toolchain.toml"), "left_out"),
        (facts(RUST, ("tests/it.rs",)), changed("Cargo.lock"), "judged"),
    ],
)
def test_what_stands_where_is_the_same_in_every_language(base: BaseFacts, file: ChangedFile, place: str) -> None:
    assert placed(file, base) == place


def test_a_folder_in_which_mostly_tests_were_collected_is_one_of_tests_whatever_its_name() -> None:
    files = ("app/core.py", "proofs/prove_a.py", "proofs/prove_b.py", "proofs/steps.py", "proofs/data.json")
    base = facts(files, ("proofs/prove_a.py", "proofs/prove_b.py"))
    assert {placed(changed(path), base) for path in files[1:]} == {"restored"}
    assert placed(added("proofs/prove_c.py"), base) == "left_out"
    assert split(Change(files=(added("proofs/prove_c.py"),)), (), base).tests == ("proofs/prove_c.py",)


def test_modules_with_their_tests_beside_them_stay_the_products() -> None:
    files = ("app/a.py", "app/test_a.py", "app/test_a_more.py", "app/test_b.py", "app/__init__.py")
    base = facts(files, ("app/test_a.py", "app/test_a_more.py", "app/test_b.py"))
    assert placed(changed("app/a.py"), base) == "judged"
    assert placed(added("app/b.py"), base) == "judged"


def test_a_package_called_test_that_a_product_offers_is_the_products() -> None:
    files = ("web/__init__.py", "web/app.py", "web/test/__init__.py", "web/test/client.py", "tests/test_app.py")
    base = facts(files, ("tests/test_app.py",))
    assert placed(changed("web/test/client.py"), base) == "judged"
    assert placed(added("web/test/test_client.py"), base) == "left_out"


def test_a_module_with_a_loaded_name_inside_a_package_is_no_build_and_maybe_no_test() -> None:
    files = ("setup.py", "app/__init__.py", "app/setup.py", "app/tests.py", "tests/__init__.py", "tests/setup.py")
    base = facts((*files, "tests/test_app.py"), ("tests/test_app.py",))
    found = {path: placed(changed(path), base) for path in files[:1] + files[2:4] + files[5:]}
    assert found == {
        "setup.py": "uncertain",
        "app/setup.py": "judged",
        "app/tests.py": "uncertain",
        "tests/setup.py": "restored",
    }
    assert placed(changed("app/tests.py"), facts(files, ("app/tests.py",))) == "restored"


def test_a_page_whose_examples_are_tests_judges() -> None:
    base = facts(("app.py", "docs/usage.md"), ("docs/usage.md",))
    assert placed(changed("docs/usage.md"), base) == "restored"


def test_scripts_are_the_product_where_there_is_nothing_else() -> None:
    base = facts(("scripts/backup.sh", "README.md"))
    assert placed(added("scripts/restore.sh"), base) == "judged"


def test_a_task_is_told_which_of_its_files_judge() -> None:
    base = facts(PYTHON)
    asked = ("src/shop/cart.py", "tests/conftest.py", "pytest.ini", "README.md", "scripts/rules.py")
    assert judging(asked, base) == ("tests/conftest.py", "pytest.ini")


def test_a_manifest_is_split_by_section() -> None:
    before = b'[project]\nname = "shop"\ndependencies = []\n\n[tool.pytest.ini_options]\naddopts = "-q"\n'
    needs = before.replace(b"[]", b'["httpx"]')
    loose = before.replace(b"-q", b"-p lies")
    both = needs.replace(b"-q", b"-p lies")

    def of(after: bytes) -> Split:
        return split(Change(files=(ChangedFile(path="pyproject.toml", before=before, after=after),)), (), SHOP)

    assert of(needs).judged == ("pyproject.toml",)
    assert of(loose).restored == ("pyproject.toml",)
    assert of(both).merged == {"pyproject.toml": needs}
    assert of(both).from_base == ("pyproject.toml",)
    assert of(b"[project\n").restored == ("pyproject.toml",)


def test_a_manifest_among_the_tests_is_one_of_their_files() -> None:
    assert placed(added("tests/pyproject.toml", b"[project]\n"), SHOP) == "left_out"
    assert placed(added("tests/package.json", b"{}"), SHOP) == "left_out"


def test_a_named_manifest_is_told_only_where_it_judges_otherwise() -> None:
    before = b'{"scripts": {"test": "jest"}, "dependencies": {}}'
    needs = b'{"scripts": {"test": "jest"}, "dependencies": {"left": "1"}}'
    other = b'{"scripts": {"test": "true"}, "dependencies": {}}'
    base = facts(NODE, ("src/app.test.ts",))
    for after, named in ((needs, ()), (other, ("package.json",))):
        change = Change(files=(ChangedFile(path="package.json", before=before, after=after),))
        found = split(change, ("package.json",), base)
        assert (found.judged, found.named) == (("package.json",), named)


@pytest.mark.parametrize("first", [b"#!/bin/sh\n", b"#!/usr/bin/env bash\n", b"#!/usr/bin/env -S bash -eu\n"])
def test_a_program_of_the_product_is_judged_whether_its_name_says_its_language_or_not(first: bytes) -> None:
    base = facts(
        ("bin/convert", "tests/check.sh"), opened=("bin/convert", "tests/check.sh"), programs=("tests/check.sh",)
    )
    change = Change(files=(ChangedFile(path="bin/convert", before=first, after=first + b"echo 1\n"),))

    assert standing(split(change, (), base), "bin/convert") == "judged"
    assert standing(split(Change(files=(added("bin/other", first),)), (), base), "bin/other") == "judged"


def test_what_a_file_of_the_base_is_cannot_be_changed_by_its_first_line() -> None:
    base = facts(("data/cases", "src/a.sh", "check.sh"), opened=("data/cases",), programs=("check.sh",))
    change = Change(files=(ChangedFile(path="data/cases", before=b"1 2\n", after=b"#!/bin/sh\n1 3\n"),))

    assert standing(split(change, (), base), "data/cases") == "uncertain"


def test_a_program_that_checks_or_is_aside_judges_without_a_suffix_too() -> None:
    base = facts(("bin/tool", "bin/run-checks", "scripts/compare"), opened=("bin/run-checks", "scripts/compare"))
    script = b"#!/bin/sh\n"
    paths = ("bin/run-checks", "scripts/compare")
    change = Change(files=tuple(ChangedFile(path=path, before=script, after=script + b"exit\n") for path in paths))

    assert [standing(split(change, (), base), path) for path in paths] == ["uncertain", "restored"]
