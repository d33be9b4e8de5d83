"""The two secrets of a database."""

import pytest

from service.errors import LastCallError
from service.store.engine import Engine, reading, writing
from service.store.secrets import read_secrets, set_secrets
from tests.store.support import execute, query, row, store


def test_they_are_made_once_and_stay(engine: Engine) -> None:
    """Two different ones of 32 bytes, the same whenever they are read."""
    execute(engine, "DELETE FROM meta")
    with writing(engine) as conn:
        key, identity = read_secrets(conn)
    assert (len(key), len(identity)) == (32, 32)
    assert key != identity
    with reading(engine) as conn:
        assert read_secrets(conn) == (key, identity)


def test_an_empty_database_takes_those_of_a_back_up(engine: Engine) -> None:
    with writing(engine) as conn:
        set_secrets(conn, b"k" * 32, b"i" * 32)
    with reading(engine) as conn:
        assert read_secrets(conn) == (b"k" * 32, b"i" * 32)


def test_a_database_with_events_keeps_its_own(engine: Engine) -> None:
    """Its keys could never be computed again."""
    before = query(engine, "SELECT * FROM meta WHERE name LIKE '%secret' ORDER BY name")
    store(engine, [row(1)])
    with pytest.raises(LastCallError, match="restore into an empty one"), writing(engine) as conn:
        set_secrets(conn, b"k" * 32, b"i" * 32)
    assert query(engine, "SELECT * FROM meta WHERE name LIKE '%secret' ORDER BY name") == before


def test_a_secret_of_another_length_is_refused(engine: Engine) -> None:
    with pytest.raises(LastCallError, match="32 bytes"), writing(engine) as conn:
        set_secrets(conn, b"short", b"i" * 32)
