"""
Every table, once. Instants are integers: microseconds since 1970-01-01T00:00:00Z (`…_us`).

Text lives once, in dimension tables, and is at most `names.TEXT_LIMIT` characters (longer text is
cut and ends in a hash of the whole), so that every unique index fits on every database. Events and roll-ups hold ids
without foreign keys: they are written by the million, and `db check` finds a dangling one.

In roll-ups an id of 0 stands for "none": NULL in a key would count twice.
"""

import sqlalchemy as sa

from service.store.address import VERSION_TABLE as VERSION_TABLE

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Id = sa.Integer
Instant = sa.BigInteger
Text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
"""Compared by code points on both databases, whatever the server's locale: "the least text" must be
the same text everywhere, also in Python."""

meta = sa.Table(
    "meta",
    metadata,
    sa.Column("name", Text, primary_key=True),
    sa.Column("value", Text, nullable=False),
)
"""The two secrets (`key_secret`, `identity_secret`, hex), `data_version`, which every transaction that
stores something raises by one, `release_moves`, how often a release was given another instant,
`accepted_` and the id of a server, how many lines it has brought anew (never less, whatever is taken back), and, on
SQLite, `last_batch`, `last_exclusion`, `last_mark` and `last_note`, the greatest numbers that rows had which are gone."""

server = sa.Table(
    "server",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("name", Text, nullable=False, unique=True),
)

source = sa.Table(
    "source",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("server_id", sa.ForeignKey(server.c.id), nullable=False),
    sa.Column("name", Text, nullable=False),
    sa.Column("retired_us", Instant),
    sa.UniqueConstraint("server_id", "name"),
)

release = sa.Table(
    "release",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("server_id", sa.ForeignKey(server.c.id), nullable=False),
    sa.Column("version", Text, nullable=False),
    sa.Column("at_us", Instant, nullable=False),
    sa.Column("source", Text, nullable=False),
    sa.UniqueConstraint("server_id", "version"),
)
"""When each version of a server came, as somebody said; `source` is the way it was said: `rest`,
`command` or `demo`. No line writes here."""

batch = sa.Table(
    "batch",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("source_id", sa.ForeignKey(source.c.id), nullable=False),
    sa.Column("kind", Text, nullable=False),
    sa.Column("label", Text, nullable=False),
    sa.Column("started_us", Instant, nullable=False),
    sa.UniqueConstraint("source_id", "kind", "label"),
)
"""What can be taken back as one: an `ingest` run, or a source's requests of one UTC hour."""

tally = sa.Table(
    "tally",
    metadata,
    sa.Column("batch_id", sa.ForeignKey(batch.c.id), primary_key=True),
    sa.Column("day", Id, primary_key=True),
    sa.Column("fate", Text, primary_key=True),
    sa.Column("reason", Text, primary_key=True),
    sa.Column("records", sa.BigInteger, nullable=False),
)
"""Records by batch, UTC day of arrival (days since 1970-01-01) and fate: accepted, duplicate,
ignored, rejected (with `reason`, else ''). Beside them, not fates of their own: `suppressed`, the
duplicates that may have been calls of their own, and `resend`, those of a delivery sent again."""

ledger = sa.Table(
    "ledger",
    metadata,
    sa.Column("source_id", sa.ForeignKey(source.c.id), primary_key=True),
    sa.Column("hour", Id, primary_key=True),
    sa.Column("batch_id", sa.ForeignKey(batch.c.id), primary_key=True),
    sa.Column("lines", sa.BigInteger, nullable=False),
    sa.Index("ix_ledger_batch_id", "batch_id"),
    sqlite_with_rowid=False,
)
"""The hours (since 1970-01-01T00Z, by the time in the lines) in which a source was heard."""

reject = sa.Table(
    "reject",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("batch_id", sa.ForeignKey(batch.c.id), nullable=False),
    sa.Column("arrived_us", Instant, nullable=False),
    sa.Column("position", sa.BigInteger, nullable=False),
    sa.Column("reason", Text, nullable=False),
    sa.Column("excerpt", Text, nullable=False),
    sa.Column("whole", sa.Boolean, nullable=False),
    sa.Index("ix_reject_arrived_us", "arrived_us"),
    sa.Index("ix_reject_batch_id", "batch_id"),
)
"""Quarantine."""

client = sa.Table(
    "client",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("raw", Text, nullable=False, unique=True),
    sa.Column("key", Text, nullable=False),
    sa.Column("name", Text, nullable=False),
    sa.Column("via", Text),
    sa.Column("version", Text),
    sa.Index("ix_client_key", "key"),
)
"""One row a raw spelling. `key` groups, `name` is the spelling without `via` and `version`; all four
are derived from `raw` and derived again by `db rebuild`."""

tool = sa.Table(
    "tool",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("name", Text, nullable=False, unique=True),
)

version = sa.Table(
    "version",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("name", Text, nullable=False, unique=True),
)

caller = sa.Table(
    "caller",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("server_id", sa.ForeignKey(server.c.id), nullable=False),
    sa.Column("level", sa.SmallInteger, nullable=False),
    sa.Column("digest", Text, nullable=False),
    sa.Column("network", Text),
    sa.UniqueConstraint("server_id", "level", "digest"),
)

session = sa.Table(
    "session",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("server_id", sa.ForeignKey(server.c.id), nullable=False),
    sa.Column("digest", Text, nullable=False),
    sa.Column("hello_us", Instant),
    sa.Column("hello_client_id", sa.ForeignKey(client.c.id)),
    sa.Column("hello_version_id", sa.ForeignKey(version.c.id)),
    sa.Column("named_us", Instant),
    sa.Column("named_client_id", sa.ForeignKey(client.c.id)),
    sa.Column("first_us", Instant, nullable=False),
    sa.Column("last_us", Instant, nullable=False),
    sa.Column("unnamed", sa.BigInteger, nullable=False),
    sa.UniqueConstraint("server_id", "digest"),
    sa.Index("ix_session_first_us", "first_us", "server_id"),
)
"""`hello_…`: of the earliest hello that names a client (ties by the least text): read in place of the
client where a line names none. `named_…`: the client of the earliest line that names one, for
sessions whose hello was never logged. `unnamed`: rows of the session without a client."""

fact = sa.Table(
    "fact",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("server_id", sa.ForeignKey(server.c.id), nullable=False),
    sa.Column("tool_id", sa.ForeignKey(tool.c.id), nullable=False),
    sa.Column("digest", Text, nullable=False),
    sa.Column("last_release", Text),
    sa.Column("replaced_by", Text),
    sa.Column("message", Text),
    sa.UniqueConstraint("server_id", "tool_id", "digest"),
)
"""What stale calls say of their name; `replaced_by` is a JSON list or NULL for nothing said. When a
fact was last said is read from the events that point to it, so it can be taken back and cut at any
instant."""

event = sa.Table(
    "event",
    metadata,
    sa.Column("time_us", Instant, primary_key=True),
    sa.Column("key", sa.BigInteger, primary_key=True),
    sa.Column("kind", sa.SmallInteger, nullable=False),
    sa.Column("server_id", Id, nullable=False),
    sa.Column("source_id", Id, nullable=False),
    sa.Column("batch_id", Id, nullable=False),
    sa.Column("client_id", Id),
    sa.Column("caller_id", Id),
    sa.Column("session_id", Id),
    sa.Column("tool_id", Id),
    sa.Column("version_id", Id),
    sa.Column("fact_id", Id),
    sa.Column("outcome", sa.SmallInteger),
    sa.Column("counted", sa.SmallInteger, nullable=False),
    sqlite_with_rowid=False,
)
"""Every accepted event. `counted` is 0 for a line of a call (see `call_line`) that another line of the
same call already stands for: stale_call before unknown_call before call, then the earliest, then the
least text of client and version (none last). It is derived from rows and derived again by
`db rebuild`."""

sa.Index(
    "ix_event_stale",
    event.c.server_id,
    event.c.tool_id,
    event.c.time_us,
    event.c.kind,
    event.c.client_id,
    event.c.caller_id,
    event.c.session_id,
    event.c.version_id,
    event.c.counted,
    sqlite_where=event.c.kind <= 2,
    postgresql_where=event.c.kind <= 2,
)
sa.Index(
    "ix_event_fact",
    event.c.fact_id,
    event.c.time_us,
    sqlite_where=event.c.fact_id.is_not(None),
    postgresql_where=event.c.fact_id.is_not(None),
)
sa.Index(
    "ix_event_silent",
    event.c.client_id,
    event.c.time_us,
    event.c.session_id,
    event.c.server_id,
    sqlite_where=event.c.counted == 0,
    postgresql_where=event.c.counted == 0,
)

sa.Index(
    "ix_event_signal",
    event.c.kind,
    event.c.time_us,
    event.c.server_id,
    event.c.session_id,
    event.c.client_id,
    sqlite_where=event.c.kind.in_([4, 5]),
    postgresql_where=event.c.kind.in_([4, 5]),
)

event_extra = sa.Table(
    "event_extra",
    metadata,
    sa.Column("time_us", Instant, primary_key=True),
    sa.Column("key", sa.BigInteger, primary_key=True),
    sa.Column("trigger", Text),
    sa.Column("protocol_version", Text),
    sa.Column("ttl_ms", sa.BigInteger),
    sa.Column("listed_count", sa.BigInteger),
    sa.Column("ns", sa.SmallInteger),
    sa.Column("arrival", sa.SmallInteger),
    sqlite_with_rowid=False,
)
"""Rare fields, a row only where one is present."""

call_line = sa.Table(
    "call_line",
    metadata,
    sa.Column("session_id", Id, primary_key=True),
    sa.Column("request", sa.BigInteger, primary_key=True),
    sa.Column("time_us", Instant, primary_key=True),
    sa.Column("key", sa.BigInteger, primary_key=True),
    sqlite_with_rowid=False,
)
"""The events that are lines of a call with a request id, by session: those of one session, tool and
`request` tell of one call. `request` stands for the request id: itself where it is a decimal number
of up to 18 digits, else a negative hash of its text. A table and not an index of `event`, so that the
writer can write it in its own order."""

arrival = sa.Table(
    "arrival",
    metadata,
    sa.Column("key", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("time_us", Instant, nullable=False),
    sqlite_with_rowid=False,
)
"""When a record without any time of its own first arrived, so that a resend takes the same time."""

native = sa.Table(
    "native",
    metadata,
    sa.Column("time_us", Instant, primary_key=True),
    sa.Column("key", sa.BigInteger, primary_key=True),
    sa.Column("native_id", sa.BigInteger, primary_key=True),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sqlite_with_rowid=False,
)
"""The ids by which carriers tell equal records apart. `key` is that of the first of its equals, which is
always stored; `native_id` a keyed hash of the id; `ordinal` which of its equals the record is. The time
stands first so that the writer writes side by side."""

followed = sa.Table(
    "followed",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("server", Text, nullable=False),
    sa.Column("source", Text, nullable=False),
    sa.Column("path", Text, nullable=False),
    sa.Column("file", Text),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("head", Text, nullable=False),
    sa.Column("tail", Text, nullable=False),
    sa.Column("crc", sa.BigInteger, nullable=False),
    sa.Column("changed_ns", sa.BigInteger, nullable=False),
    sa.Column("records", sa.BigInteger, nullable=False),
    sa.Column("chain", Text, nullable=False),
    sa.Column("accepted", sa.BigInteger, nullable=False),
    sa.Column("day", Id, nullable=False),
    sa.Column("said", Text, nullable=False),
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.Column("seen_us", Instant, nullable=False),
    sa.UniqueConstraint("server", "source", "file"),
)
"""How far each followed file was read. `server` is '' where the lines name it. `file` is device and
inode, NULL once something else stands there. `size` bytes were taken, after decompression; `head`, `tail`
and `crc` tell whether a file begins with them. `records`, `chain`, `accepted`, `day` and `said` are what
the delivery has come to; `revision` rises with every piece, so that of two processes one is told."""

followed_page = sa.Table(
    "followed_page",
    metadata,
    sa.Column("followed_id", sa.ForeignKey(followed.c.id), primary_key=True),
    sa.Column("kind", sa.SmallInteger, primary_key=True),
    sa.Column("page", sa.BigInteger, primary_key=True),
    sa.Column("ordinals", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
"""The ordinals of a followed file's records as far as the window reaches back, by kind."""

alias = sa.Table(
    "alias",
    metadata,
    sa.Column("key", Text, primary_key=True),
    sa.Column("target", Text, nullable=False),
    sa.Column("note", Text, nullable=False),
    sa.Column("said_us", Instant, nullable=False),
    sa.Column("actor", Text, nullable=False),
)
"""Two client keys of one client: `key` is read as `target`. Chains are followed when reading; taking the
row away takes the alias back."""

exclusion = sa.Table(
    "exclusion",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("server", Text),
    sa.Column("client", Text),
    sa.Column("version", Text),
    sa.Column("network", Text),
    sa.Column("note", Text, nullable=False),
    sa.Column("said_us", Instant, nullable=False),
    sa.Column("actor", Text, nullable=False),
)
"""Calls that are not counted among those of real callers, but beside them: a call is excluded by a rule
where it has everything that the rule names. `client` is a pattern of keys (`*` for any text)."""

mark = sa.Table(
    "mark",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("kind", Text, nullable=False),
    sa.Column("server", Text, nullable=False),
    sa.Column("client", Text, nullable=False),
    sa.Column("tool", Text),
    sa.Column("at_us", Instant, nullable=False),
    sa.Column("note", Text, nullable=False),
    sa.Column("said_us", Instant, nullable=False),
    sa.Column("actor", Text, nullable=False),
    sa.Column("withdrawn_us", Instant),
    sa.Index("ix_mark_server_client", "server", "client"),
)
"""What somebody says of a client at a server: `contacted`, `known` or `resolved` at `at_us`. `client` is
its key, `tool` the retired name or NULL for all of them. A mark that is taken back stays, withdrawn."""

note = sa.Table(
    "note",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("server", Text),
    sa.Column("at_us", Instant, nullable=False),
    sa.Column("text", Text, nullable=False),
    sa.Column("said_us", Instant, nullable=False),
    sa.Column("actor", Text, nullable=False),
    sa.Index("ix_note_at_us", "at_us"),
)
"""What somebody wrote beside an instant, of one server or (NULL) of all. It changes no number."""

plan = sa.Table(
    "plan",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("server", Text, nullable=False),
    sa.Column("key", Text, nullable=False),
    sa.Column("wave_1_us", Instant, nullable=False),
    sa.Column("wave_2_us", Instant, nullable=False),
    sa.Column("note", Text, nullable=False),
    sa.Column("made_us", Instant, nullable=False),
    sa.Column("actor", Text, nullable=False),
    sa.Column("withdrawn_us", Instant),
)
"""A roll-out in two waves; `key` (hex) says which wave a client is in. A plan that is taken back stays,
withdrawn."""

plan_unit = sa.Table(
    "plan_unit",
    metadata,
    sa.Column("plan_id", sa.ForeignKey(plan.c.id), primary_key=True),
    sa.Column("client", Text, primary_key=True),
    sa.Column("wave", sa.SmallInteger, nullable=False),
)
"""The clients (keys) that a plan split when it was made; only they are compared when it is read."""

entry = sa.Table(
    "entry",
    metadata,
    sa.Column("server_id", sa.ForeignKey(server.c.id), primary_key=True),
    sa.Column("name", Text, primary_key=True),
    sa.Column("number", Id, primary_key=True, autoincrement=False),
    sa.Column("last_release", Text),
    sa.Column("replaced_by", Text),
    sa.Column("message", Text),
    sa.Column("retired_us", Instant),
    sa.Column("hidden", sa.Boolean, nullable=False),
    sa.Column("source", Text, nullable=False),
    sa.Column("said_us", Instant, nullable=False),
    sa.Column("actor", Text, nullable=False),
)
"""The catalogue as it was told: every version of every entry, the greatest `number` counts.
`replaced_by` is a JSON list, or NULL for nothing said; `source` is where it came from."""

snapshot = sa.Table(
    "snapshot",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("server_id", sa.ForeignKey(server.c.id), nullable=False),
    sa.Column("at_us", Instant, nullable=False),
    sa.Column("version", Text),
    sa.Column("protocol_version", Text),
    sa.Column("source", Text, nullable=False),
    sa.Column("tools", Text, nullable=False),
    sa.Column("actor", Text, nullable=False),
    sa.UniqueConstraint("server_id", "at_us"),
)
"""The tools that a server listed at an instant: `tools` is the JSON list as it came, by name."""

audit = sa.Table(
    "audit",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("at_us", Instant, nullable=False),
    sa.Column("actor", Text, nullable=False),
    sa.Column("action", Text, nullable=False),
    sa.Column("subject", Text, nullable=False),
    sa.Column("detail", Text, nullable=False),
    sa.Index("ix_audit_at_us", "at_us"),
)
"""Who told, changed or took back what: one line each, never changed. `detail` is JSON."""

token = sa.Table(
    "token",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("name", Text, nullable=False, unique=True),
    sa.Column("digest", Text, nullable=False, unique=True),
    sa.Column("scope", Text, nullable=False),
    sa.Column("server", Text),
    sa.Column("records_per_s", sa.BigInteger),
    sa.Column("burst", sa.BigInteger),
    sa.Column("sent_bytes", sa.BigInteger),
    sa.Column("body_bytes", sa.BigInteger),
    sa.Column("line_bytes", sa.BigInteger),
    sa.Column("depth", sa.BigInteger),
    sa.Column("created_us", Instant, nullable=False),
    sa.Column("actor", Text, nullable=False),
    sa.Column("used_us", Instant),
    sa.Column("revoked_us", Instant),
    sa.Column("revoked_by", Text),
)
"""Who may come in. `digest` is the SHA-256 of the secret, which is kept nowhere; `server` the only one that
lines may be of, NULL for any. A token that is revoked stays, so that its name is not given again."""

share = sa.Table(
    "share",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("digest", Text, nullable=False, unique=True),
    sa.Column("server", Text, nullable=False),
    sa.Column("name", Text),
    sa.Column("client", Text),
    sa.Column("embed", Text, nullable=False),
    sa.Column("created_us", Instant, nullable=False),
    sa.Column("actor", Text, nullable=False),
    sa.Column("expires_us", Instant),
    sa.Column("used_us", Instant),
    sa.Column("revoked_us", Instant),
    sa.Column("revoked_by", Text),
)
"""Links that show one filter: `digest` is the SHA-256 of the secret, which is kept nowhere; `client` is empty for
calls that name none, NULL for any; `embed` holds origins with a space between them. Rows stay."""

look = sa.Table(
    "look",
    metadata,
    sa.Column("question", Text, primary_key=True),
    sa.Column("week_us", Instant, primary_key=True),
    sa.Column("written_us", Instant, nullable=False),
)
"""The Mondays (00:00 UTC) as of which a question was asked, and when that was done. Whoever writes the row
writes what was said, in the same transaction: of two services one."""

subject = sa.Table(
    "subject",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("server_id", sa.ForeignKey(server.c.id), nullable=False),
    sa.Column("name", Text, nullable=False),
    sa.Column("client", Text, nullable=False),
    sa.Column("everyone", sa.SmallInteger, nullable=False),
    sa.UniqueConstraint(
        "server_id",
        "name",
        "client",
        "everyone",
        name="uq_subject_server_id_name_client_everyone",
    ),
)
"""Whom words were about: a retired name ('' for all of a server) and a client's key, '' where it is about
`everyone` (1) and for calls that name none (0). Names as resolved and keys are neither of them spellings, so
`tool` and `client` cannot hold them; and those go with their events, while what was said stays."""

said = sa.Table(
    "said",
    metadata,
    sa.Column("subject_id", sa.ForeignKey(subject.c.id), primary_key=True),
    sa.Column("question", Text, primary_key=True),
    sa.Column("week_us", Instant, primary_key=True),
    sa.Column("word", Text, nullable=False),
    sa.Column("strength", Text),
    sa.Column("figures", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""One word a question, subject and Monday, with the figures that were shown, as JSON. Never changed: not by
later lines, nor by a batch that is taken back. It goes with its client or server only, when that is forgotten."""

redelivery = sa.Table(
    "redelivery",
    metadata,
    sa.Column("batch_id", Id, primary_key=True, autoincrement=False),
    sa.Column("time_us", Instant, primary_key=True),
    sa.Column("key", sa.BigInteger, primary_key=True),
    sqlite_with_rowid=False,
)
"""The events that a batch delivered when they were already stored, so that taking their first batch back
leaves them to this one. Kept as long as that one can be taken back. Ids without foreign keys, as in
`event`: they are written as often."""

call_day = sa.Table(
    "call_day",
    metadata,
    sa.Column("server_id", Id),
    sa.Column("tool_id", Id),
    sa.Column("client_id", Id),
    sa.Column("kind", sa.SmallInteger),
    sa.Column("day", Id),
    sa.Column("calls", sa.BigInteger, nullable=False),
    sa.Column("first_us", Instant, nullable=False),
    sa.Column("last_us", Instant, nullable=False),
    sa.PrimaryKeyConstraint("server_id", "tool_id", "kind", "day", "client_id"),
    sqlite_with_rowid=False,
)
"""Roll-up: counted calls per UTC day (since 1970-01-01), with the first and last of that day. The
client is the line's, else its session's (inferred), else 0. The key has the day before the client:
a range of days is then one stretch a name and kind, and today's calls are written side by side."""

activity = sa.Table(
    "activity",
    metadata,
    sa.Column("server_id", Id, primary_key=True),
    sa.Column("client_id", Id, primary_key=True),
    sa.Column("kind", sa.SmallInteger, primary_key=True),
    sa.Column("quarter", Id, primary_key=True),
    sa.Column("events", sa.BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
"""Roll-up: counted events of every kind per quarter-hour (since 1970-01-01T00Z), client as in
`call_day`. Quarter-hours make each local day exact in any zone whose offset is a whole number of
them."""
