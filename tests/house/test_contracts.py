"""Rooms import one another in one direction only."""

from tests.house.checkout import BIN, ROOT, run

PACKAGES = ("service", "dashboards", "migrations")


def test_every_import_contract_is_kept() -> None:
    """The contracts in pyproject.toml hold; a broken one names the file and the line."""
    done = run([BIN / "lint-imports", "--no-cache"], cwd=ROOT)

    assert done.returncode == 0, done.stdout + done.stderr


def test_every_folder_of_code_is_a_package() -> None:
    """A folder without `__init__.py` is seen neither by the contracts nor by importers."""
    missing = [
        str(folder.relative_to(ROOT))
        for package in PACKAGES
        for folder in {path.parent for path in (ROOT / package).rglob("*.py")}
        if not (folder / "__init__.py").exists()
    ]

    assert missing == []
