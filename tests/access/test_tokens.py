"""Tokens are made, known again by their secret, and revoked, on both databases and by the command."""

import base64
import json
import re
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from service.access import Access
from service.cli import app
from service.errors import BadParameter, Conflict, NotFound
from service.settings import Settings
from service.store.driver import Writer
from service.tokens import Limits, Scope

NOW_US = 1_793_500_000_000_000  # 2026-11-01T02:26:40Z


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_us = NOW_US

    def __call__(self) -> int:
        return self.now_us


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def writer(database_url: str) -> Iterator[Writer]:
    made = Writer(database_url)
    yield made
    made.close()


@pytest.fixture
def access(writer: Writer, database_url: str, clock: Hands) -> Access:
    return Access(writer, settings=Settings(database_url=database_url), clock=clock)


def test_a_token_is_known_by_its_secret_until_it_is_revoked(access: Access) -> None:
    issued = access.add("vector", "ingest:maps", actor="command")
    found = access.find(issued.secret)
    assert found is not None
    assert (found.name, found.scope, found.server) == ("vector", Scope.INGEST, "maps")
    access.revoke("vector", actor="anna")
    assert access.find(issued.secret) is None
    [kept] = access.tokens()
    assert (kept.revoked_us, kept.revoked_by) == (NOW_US, "anna")


def test_a_secret_is_256_random_bits_that_stand_in_a_url_and_are_known_as_ours(
    access: Access,
) -> None:
    secrets = {access.add(f"t{n}", "read", actor="command").secret for n in range(20)}
    assert len(secrets) == 20
    for secret in secrets:
        assert re.fullmatch(r"lct_[A-Za-z0-9_-]{43}", secret)
        assert len(base64.urlsafe_b64decode(secret[4:] + "=")) == 32


def test_no_secret_is_in_the_database(access: Access, writer: Writer) -> None:
    secret = access.add("vector", "ingest:maps", actor="command").secret
    with writer.reading() as connection:
        stored = str(
            connection.rows("SELECT * FROM token") + connection.rows("SELECT * FROM audit")
        )
    assert "vector" in stored
    assert secret not in stored
    assert secret.removeprefix("lct_") not in stored


@pytest.mark.parametrize(
    "secret",
    ["", "lct_", "lct_" + "A" * 43, "x" * 1_000_000, "\udfff", "\0", "' OR 1=1 --", "é"],
    ids=["nothing", "prefix", "unknown", "long", "surrogate", "nul", "sql", "accent"],
)
def test_what_is_no_secret_finds_nobody(access: Access, secret: str) -> None:
    access.add("vector", "ingest:maps", actor="command")
    assert access.find(secret) is None


def test_from_the_first_token_on_everybody_is_asked_also_when_all_are_revoked(
    access: Access, database_url: str
) -> None:
    other = Writer(database_url)
    theirs = Access(other, settings=Settings(database_url=database_url))
    assert not access.asks()
    assert not theirs.asks()
    access.add("vector", "ingest:maps", actor="command")
    assert theirs.asks(), "made by another process"
    access.revoke("vector", actor="command")
    assert access.asks()
    assert theirs.asks()
    assert Access(other, settings=Settings(database_url=database_url)).asks(), "after a restart"
    other.close()


def test_no_name_is_given_twice_not_even_that_of_a_revoked_token(access: Access) -> None:
    access.add("vector", "ingest:maps", actor="command")
    access.revoke("vector", actor="command")
    with pytest.raises(Conflict, match="a name that none had yet"):
        access.add(" vector ", "read", actor="command")
    with pytest.raises(NotFound, match="tokens list"):
        access.revoke("vector", actor="command")
    with pytest.raises(NotFound):
        access.revoke("nobody", actor="command")


@pytest.mark.parametrize("name", [None, "", "  ", "a\nb", "a\u202eb", "x" * 129, "rest", "command"])
def test_a_name_that_cannot_be_used_is_said(access: Access, name: str | None) -> None:
    with pytest.raises(BadParameter, match=r"^name: "):
        access.add(name, "read", actor="command")
    assert not access.asks()


@pytest.mark.parametrize(
    "scope", [None, "", "ingest", "ingest:", "read:maps", "admin:", "root", "ingest:" + "x" * 129]
)
def test_a_scope_that_cannot_be_used_is_said(access: Access, scope: str | None) -> None:
    with pytest.raises(BadParameter, match=r"^scope: "):
        access.add("a", scope, actor="command")


def test_scopes_are_written_as_they_are_read(access: Access) -> None:
    scopes = ["ingest:maps", "ingest:*", "read", "admin", "ingest:a:b"]
    made = [access.add(scope, scope, actor="command").token for scope in scopes]
    assert [token.scope_text for token in made] == scopes
    assert [token.server for token in made] == ["maps", None, None, None, "a:b"]


@pytest.mark.parametrize(
    ("limits", "wrong"),
    [
        (Limits(line_bytes=1024 * 1024 + 1), "line_bytes: at most 1,048,576"),
        (Limits(body_bytes=8 * 1024 * 1024 + 1), "body_bytes: at most 8,388,608"),
        (Limits(depth=101), "depth: at most 100"),
        (Limits(records_per_s=0), "records_per_s: must be 1"),
        (Limits(sent_bytes=-1), "sent_bytes: must be 1"),
        (Limits(burst=10), "burst: .*records_per_s"),
    ],
)
def test_a_limit_is_at_most_its_setting(access: Access, limits: Limits, wrong: str) -> None:
    with pytest.raises(BadParameter, match=wrong):
        access.add("a", "ingest:maps", limits, actor="command")


def test_who_only_reads_has_no_limits(access: Access) -> None:
    with pytest.raises(BadParameter, match="delivers nothing"):
        access.add("a", "read", Limits(depth=5), actor="command")


def test_limits_are_kept(access: Access) -> None:
    limits = Limits(
        records_per_s=100, burst=500, sent_bytes=1000, body_bytes=5000, line_bytes=2000, depth=9
    )
    secret = access.add("a", "ingest:maps", limits, actor="command").secret
    found = access.find(secret)
    assert found is not None
    assert found.limits == limits


def test_when_a_token_was_last_used_is_kept_to_the_minute(access: Access, clock: Hands) -> None:
    secret = access.add("a", "read", actor="command").secret

    def used_at(now_us: int) -> int | None:
        clock.now_us = now_us
        token = access.find(secret)
        assert token is not None
        access.note_use(token)
        return access.tokens()[0].used_us

    assert access.tokens()[0].used_us is None
    assert used_at(NOW_US) == NOW_US
    assert used_at(NOW_US + 59_000_000) == NOW_US
    assert used_at(NOW_US + 60_000_000) == NOW_US + 60_000_000


def test_the_audit_says_who_made_and_revoked_a_token(access: Access, writer: Writer) -> None:
    access.add("vector", "ingest:maps", Limits(depth=9), actor="anna")
    access.revoke("vector", actor="ben")
    with writer.reading() as connection:
        lines = connection.rows("SELECT actor, action, subject, detail FROM audit ORDER BY id")
    assert [(*rest, json.loads(detail)) for *rest, detail in lines] == [
        (
            "anna",
            "add token",
            "token vector",
            {"scope": "ingest:maps", "server": "maps", "depth": 9},
        ),
        ("ben", "revoke token", "token vector", {"scope": "ingest:maps", "server": "maps"}),
    ]


def test_the_command_makes_lists_and_revokes_tokens(database_url: str) -> None:
    def run(*words: str) -> tuple[str, str]:
        done = CliRunner().invoke(app, ["tokens", *words, "--db", database_url])
        assert done.exit_code == 0, done.output
        return done.stdout, done.stderr

    out, err = run("add", "vector", "--scope", "ingest:maps", "--records-per-s", "50")
    secret = out.strip()
    assert secret.startswith("lct_")
    assert "this once" in err
    made = json.loads(run("add", "anna", "--scope", "admin", "--json")[0])
    assert made["secret"].startswith("lct_")
    assert made["scope"] == "admin"
    assert "revoked" in run("revoke", "anna")[0]
    out, err = run("list", "--json")
    rows = json.loads(out)
    assert [(row["name"], row["scope"], row["revoked_by"]) for row in rows] == [
        ("vector", "ingest:maps", None),
        ("anna", "admin", "command"),
    ]
    assert rows[0]["limits"]["records_per_s"] == 50
    text, _ = run("list")
    assert "vector: ingest:maps" in text
    for told in (out, err, text):
        assert secret not in told
        assert made["secret"] not in told
