"""Databases for servers in processes of their own."""

import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa


@pytest.fixture
def make_url(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[[str], str]]:
    """Makes a fresh migrated database of a kind, and returns its URL."""
    with ExitStack() as made:

        def make(kind: str) -> str:
            if kind == "sqlite":
                path = tmp_path / "faults.db"
                shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
                return f"sqlite:///{path}"
            server = request.getfixturevalue("postgresql_server")
            template = request.getfixturevalue("postgresql_template")
            return made.enter_context(_copied(server, template))

        yield make


@contextmanager
def _copied(server: str, template: str) -> Iterator[str]:
    name = f"lastcall_faults_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
    try:
        yield sa.make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
