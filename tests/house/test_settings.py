"""Settings: out of the environment, checked, and every wrong one named."""

import tomllib
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from service import __version__
from service.settings import BadSetting, Settings, settings_from_environment
from tests.house.checkout import ROOT


def test_variables_are_read_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text becomes a number, a truth or a path, as the setting wants it."""
    monkeypatch.setenv("LASTCALL_PORT", " 9000 ")
    monkeypatch.setenv("lastcall_auto_upgrade", "Yes")
    monkeypatch.setenv("LASTCALL_PROFILE_DIR", "/etc/profiles.d")
    monkeypatch.setenv("LASTCALL_DATABASE_URL", "postgresql://db/calls")

    read = settings_from_environment()

    assert (read.port, read.auto_upgrade) == (9000, True)
    assert read.profile_dir == Path("/etc/profiles.d")
    assert read.database_url == "postgresql://db/calls"


def test_what_is_given_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `--db` does; a path becomes a URL."""
    monkeypatch.setenv("LASTCALL_DATABASE_URL", "postgresql://db/calls")

    assert settings_from_environment(database_url="/x/a.db").database_url == "sqlite:////x/a.db"


def test_settings_that_are_made_in_code_read_no_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The environment is read at the edge."""
    monkeypatch.setenv("LASTCALL_PORT", "9000")

    assert Settings(database_url="calls.db").port == 8420


@pytest.mark.parametrize("word", ["true", "ON", "1", "y", "T"])
def test_the_usual_words_are_true(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They differ between tools, so all of them are read."""
    monkeypatch.setenv("LASTCALL_AUTO_UPGRADE", word)

    assert settings_from_environment(database_url="calls.db").auto_upgrade is True


@pytest.mark.parametrize("word", ["false", "Off", "0", "no", "F"])
def test_the_usual_words_are_false(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They differ between tools, so all of them are read."""
    monkeypatch.setenv("LASTCALL_AUTO_UPGRADE", word)

    assert settings_from_environment(database_url="calls.db").auto_upgrade is False


def test_every_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One run says all that is to be mended, and how."""
    wrong = {
        "LASTCALL_PORT": ("65536", "at most 65535"),
        "LASTCALL_MAX_DEPTH": ("1", "at least 2"),
        "LASTCALL_COMMIT_RECORDS": ("many", "a whole number"),
        "LASTCALL_QUARANTINE_DAYS": ("", "a whole number"),
        "LASTCALL_AUTO_UPGRADE": ("maybe", "true or false"),
        "LASTCALL_ALLOWED_HOSTS": ("http://calls.example", "host names alone"),
    }
    for name, (value, _) in wrong.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(BadSetting) as refused:
        settings_from_environment(database_url="calls.db")

    parts = dict(part.split(": ", 1) for part in refused.value.detail.split("; "))
    assert parts.keys() == wrong.keys()
    for name, (value, cure) in wrong.items():
        assert cure in parts[name]
        assert f"(it is {value!r})" in parts[name]


def test_settings_do_not_change_and_a_changed_copy_is_checked() -> None:
    """Nobody who was handed settings can alter what others see."""
    settings = Settings(database_url="calls.db")

    with pytest.raises(FrozenInstanceError):
        settings.port = 1  # type: ignore[misc]
    with pytest.raises(BadSetting, match="LASTCALL_PORT"):
        replace(settings, port=-1)


def test_the_version_is_that_of_the_package() -> None:
    """It stands in the code, to be known at once, and in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert __version__ == project["version"]
