"""The two secrets of a database."""

from collections.abc import Callable
from functools import partial

import pytest

from service.errors import LastCallError
from service.store import migrate
from service.store.engine import Engine, driver_of, reading, writing
from service.store.secrets import make_secrets, read_secrets, set_secrets
from tests.store.support import execute, query, row, store


def test_they_are_made_once_and_stay(engine: Engine) -> None:
    """Two different ones of 32 bytes, the same whenever they are read; reading needs no lock."""
    execute(engine, "DELETE FROM meta")
    with writing(engine) as conn:
        make_secrets(driver_of(conn))
        key, identity = read_secrets(driver_of(conn))
    assert (len(key), len(identity)) == (32, 32)
    assert key != identity
    with writing(engine) as conn:
        make_secrets(driver_of(conn))
        with reading(engine) as beside:
            assert read_secrets(driver_of(beside)) == (key, identity)


def test_reading_makes_none(engine: Engine) -> None:
    """It says what does."""
    execute(engine, "DELETE FROM meta WHERE name = 'identity_secret'")
    with pytest.raises(LastCallError, match="lastcall db upgrade"), reading(engine) as conn:
        read_secrets(driver_of(conn))


@pytest.mark.parametrize(
    "start", [migrate.upgrade, partial(migrate.ensure_ready, auto_upgrade=False)]
)
def test_whatever_makes_a_database_ready_leaves_it_with_secrets(
    engine: Engine, start: Callable[[Engine], None]
) -> None:
    """Also where the schema is up to date and they are lacking, as long as no key depends on them."""
    execute(engine, "DELETE FROM meta")
    start(engine)
    with reading(engine) as conn:
        made = read_secrets(driver_of(conn))
    start(engine)
    with reading(engine) as conn:
        assert read_secrets(driver_of(conn)) == made


def test_lost_secrets_are_not_made_up(engine: Engine) -> None:
    """With others, every event that is sent again would count as a new one."""
    store(engine, [row(1)])
    execute(engine, "DELETE FROM meta WHERE name = 'key_secret'")
    with pytest.raises(LastCallError, match="back-up"):
        migrate.ensure_ready(engine, auto_upgrade=True)
    assert query(engine, "SELECT count(*) FROM meta WHERE name = 'key_secret'") == [(0,)]


def test_an_empty_database_takes_those_of_a_back_up(engine: Engine) -> None:
    with writing(engine) as conn:
        set_secrets(driver_of(conn), b"k" * 32, b"i" * 32)
    with reading(engine) as conn:
        assert read_secrets(driver_of(conn)) == (b"k" * 32, b"i" * 32)


def test_a_database_with_events_keeps_its_own(engine: Engine) -> None:
    """Its keys could never be computed again."""
    before = query(engine, "SELECT * FROM meta WHERE name LIKE '%secret' ORDER BY name")
    store(engine, [row(1)])
    with pytest.raises(LastCallError, match="restore into an empty one"), writing(engine) as conn:
        set_secrets(driver_of(conn), b"k" * 32, b"i" * 32)
    assert query(engine, "SELECT * FROM meta WHERE name LIKE '%secret' ORDER BY name") == before


def test_a_secret_of_another_length_is_refused(engine: Engine) -> None:
    with pytest.raises(LastCallError, match="32 bytes"), writing(engine) as conn:
        set_secrets(driver_of(conn), b"short", b"i" * 32)
