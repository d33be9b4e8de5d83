"""The story is told once to each server; every test of it brings its log into databases of its own."""

from pathlib import Path

import pytest

from tests.chain.stories import (
    NEWER,
    OLDER,
    PYTHON,
    SETTINGS,
    TYPESCRIPT,
    TYPESCRIPT_V2,
    Setting,
    Story,
    copy_examples,
    tell,
)

# Of each server and era one setting is quick, so that each transport of each era is.
QUICK = {
    Setting(PYTHON, OLDER, "http"),
    Setting(PYTHON, NEWER, "http"),
    Setting(TYPESCRIPT, OLDER, "stdio"),
    Setting(TYPESCRIPT_V2, OLDER, "http"),
    Setting(TYPESCRIPT_V2, NEWER, "stdio"),
}


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the examples."""
    return copy_examples(tmp_path_factory.mktemp("chain") / "examples")


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(setting, id=str(setting), marks=[] if setting in QUICK else pytest.mark.slow)
        for setting in SETTINGS
    ],
)
def story(
    request: pytest.FixtureRequest, examples: Path, tmp_path_factory: pytest.TempPathFactory
) -> Story:
    """The story as it was told to one of the servers."""
    return tell(request.param, examples, tmp_path_factory.mktemp("told") / "server.log")
