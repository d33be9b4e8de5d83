"""What the documents say is what the code does."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from service.app import create_app
from service.events import Kind, Reason
from service.ingest.profiles import FIELDS, load_profiles
from service.settings import KINDS, Settings, variable
from tests.house.checkout import BIN, ROOT, plain_environment, run

DOCUMENTS = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if ".venv" not in path.parts
)


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """The program that writes docs/reference."""
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page(name: str) -> str:
    """One page of the reference."""
    return (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["settings.md", "commands.md", "rest.md", "shippers.md"])
def test_the_reference_is_what_the_code_says(generator: ModuleType, name: str) -> None:
    """After a change of a setting, command or route: `python3 dev.py docs`."""
    assert page(name) == generator.pages()[name]


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_setting_is_documented(name: str) -> None:
    """A setting stands in the reference under the name of its variable."""
    assert f"`{variable(name)}`" in page("settings.md")


def test_every_command_of_the_help_is_documented(tmp_path: Path) -> None:
    """What `lastcall --help` lists, and the help of each group, has a section."""
    text = page("commands.md")
    for group in ([], ["catalogue"], ["db"]):
        shown = run(
            [BIN / "lastcall", *group, "--help"],
            cwd=tmp_path,
            variables=plain_environment(tmp_path),
        )
        listed = re.findall(r"^[│ ]+([a-z][a-z-]*) {2,}\S", shown.stdout, re.MULTILINE)
        assert listed, shown.stdout + shown.stderr
        for name in listed:
            assert f"## `{' '.join(['lastcall', *group, name])}`" in text


def test_every_route_is_documented(tmp_path: Path) -> None:
    """Each path of the OpenAPI document has a section for each of its methods."""
    text = page("rest.md")
    paths = create_app(Settings(database_url=f"sqlite:///{tmp_path}/empty.db")).openapi()["paths"]

    assert paths
    for path, item in paths.items():
        for method in item:
            assert f"## `{method.upper()} {path}`" in text


def test_every_profile_kind_and_field_is_in_the_guide() -> None:
    """The guide to log lines names each built-in profile, each kind and each field."""
    guide = (ROOT / "docs" / "guides" / "log-lines.md").read_text(encoding="utf-8")
    words = [profile.name for profile in load_profiles()]
    words += [kind.word for kind in Kind] + sorted(FIELDS) + [reason.value for reason in Reason]

    assert [word for word in words if f"`{word}`" not in guide] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(document: Path) -> None:
    """A link to a file of ours names one that exists, and a heading that is there."""
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        linked = (document.parent / name).resolve() if name else document
        assert linked.exists(), target
        if heading:
            assert heading in headings(linked), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_test_that_a_document_names_is_there(document: Path) -> None:
    """`tests/room/test_file.py::test_name`: a claim cannot outlive the test behind it."""
    for file, name in re.findall(
        r"`(tests/[\w/]+\.py)::(\w+)`", document.read_text(encoding="utf-8")
    ):
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file}::{name}"


def headings(document: Path) -> set[str]:
    """The anchors of a page, as forges make them from headings."""
    found = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in found}


def test_every_picture_is_there_and_small() -> None:
    """Each that the README shows is one that is kept, of at most 200 KB; and none is kept for nothing."""
    shown = re.findall(
        r'(?:src|srcset)="(docs/images/[^"]+)"', (ROOT / "README.md").read_text(encoding="utf-8")
    )

    assert sorted(shown) == sorted(
        str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "images").iterdir()
    )
    assert [name for name in shown if (ROOT / name).stat().st_size > 200_000] == []


def test_every_decision_is_in_the_list() -> None:
    """docs/adr/README.md links each decision."""
    folder = ROOT / "docs" / "adr"
    listed = (folder / "README.md").read_text(encoding="utf-8")

    assert [path.name for path in folder.glob("0*.md") if f"({path.name})" not in listed] == []


def test_the_changelog_has_a_place_for_the_next_change() -> None:
    """Keep a Changelog: the unreleased changes stand first."""
    first = re.search(r"^## .*$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert first is not None
    assert first[0] == "## [Unreleased]"
