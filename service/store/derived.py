"""
What follows from the rows, as SQL: the same numbers that the writer keeps up, from nothing.

Each `…_TRUTH` is a SELECT of what a derived table should hold, each `…_DIFFERENCE` one of the cells
where it does not. Both databases run them in bounded memory: they sort on disk.
"""

from service.clock import DAY_US, QUARTER_US

EVERY = "1 = 1"
"""In the place of `{rows}`: all of them. `…_OF` is a truth of some rows `e` of `event` only."""

CALL_DAY_OF = f"""
SELECT e.server_id, e.tool_id, coalesce(e.client_id, s.hello_client_id, 0) AS client_id, e.kind,
       e.time_us / {DAY_US} AS day,
       count(*) AS calls, min(e.time_us) AS first_us, max(e.time_us) AS last_us
FROM event AS e LEFT JOIN session AS s ON s.id = e.session_id
WHERE e.kind <= 3 AND e.tool_id IS NOT NULL AND e.counted = 1 AND {{rows}}
GROUP BY e.server_id, e.tool_id, coalesce(e.client_id, s.hello_client_id, 0), e.kind,
         e.time_us / {DAY_US}
"""
CALL_DAY_TRUTH = CALL_DAY_OF.format(rows=EVERY)

# Each side gives at most one row a cell, so that a cell is right when both do and agree.
CALL_DAY_DIFFERENCE = f"""
SELECT server_id, tool_id, client_id, kind, day,
       sum(calls) AS calls, sum(rows_say) AS rows_say,
       max(first_us) AS first_us, max(rows_first) AS rows_first,
       max(last_us) AS last_us, max(rows_last) AS rows_last
FROM (
  SELECT server_id, tool_id, client_id, kind, day,
         0 AS calls, calls AS rows_say, NULL AS first_us, first_us AS rows_first,
         NULL AS last_us, last_us AS rows_last
  FROM ({CALL_DAY_TRUTH}) AS truth
  UNION ALL
  SELECT server_id, tool_id, client_id, kind, day,
         calls, 0, first_us, NULL, last_us, NULL
  FROM call_day
) AS sides
GROUP BY server_id, tool_id, client_id, kind, day
HAVING count(*) <> 2 OR sum(calls) <> sum(rows_say)
    OR max(first_us) <> max(rows_first) OR max(last_us) <> max(rows_last)
"""

ACTIVITY_OF = f"""
SELECT e.server_id, coalesce(e.client_id, s.hello_client_id, 0) AS client_id, e.kind,
       e.time_us / {QUARTER_US} AS quarter, count(*) AS events
FROM event AS e LEFT JOIN session AS s ON s.id = e.session_id
WHERE e.counted = 1 AND {{rows}}
GROUP BY e.server_id, coalesce(e.client_id, s.hello_client_id, 0), e.kind,
         e.time_us / {QUARTER_US}
"""
ACTIVITY_TRUTH = ACTIVITY_OF.format(rows=EVERY)

ACTIVITY_DIFFERENCE = f"""
SELECT server_id, client_id, kind, quarter, sum(events) AS events, sum(rows_say) AS rows_say
FROM (
  SELECT server_id, client_id, kind, quarter, 0 AS events, events AS rows_say
  FROM ({ACTIVITY_TRUTH}) AS truth
  UNION ALL
  SELECT server_id, client_id, kind, quarter, events, 0 FROM activity
) AS sides
GROUP BY server_id, client_id, kind, quarter
HAVING count(*) <> 2 OR sum(events) <> sum(rows_say)
"""

# The order is that of `calls.rank`.
COUNTED_OF = """
SELECT time_us, key, server_id, stored, counted
FROM (
  SELECT r.time_us, r.key, r.server_id, r.counted AS stored,
         CASE WHEN row_number() OVER (
           PARTITION BY l.session_id, l.request, r.tool_id
           ORDER BY r.kind, r.time_us, t.name NULLS LAST, c.raw NULLS LAST, v.name NULLS LAST, r.key
         ) = 1 THEN 1 ELSE 0 END AS counted
  FROM {lines} AS l
  JOIN event AS r ON r.time_us = l.time_us AND r.key = l.key
  LEFT JOIN tool AS t ON t.id = r.tool_id
  LEFT JOIN client AS c ON c.id = r.client_id
  LEFT JOIN version AS v ON v.id = r.version_id
) AS placed
WHERE stored <> counted
"""
"""In the place of `{lines}`: rows of `call_line`, all those of a session and request or none."""

COUNTED_DIFFERENCE = f"""
SELECT time_us, key, stored, counted
FROM ({COUNTED_OF.format(lines="call_line")}) AS differing
UNION ALL
SELECT e.time_us, e.key, e.counted AS stored, 1 AS counted
FROM (
  SELECT time_us, key FROM event WHERE counted <> 1
  EXCEPT SELECT time_us, key FROM call_line
) AS alone
JOIN event AS e ON e.time_us = alone.time_us AND e.key = alone.key
"""

SESSION_OF = """
SELECT spans.session_id, spans.first_us, spans.last_us, spans.unnamed,
       hello.time_us AS hello_us, hello.client_id AS hello_client_id,
       hello.version_id AS hello_version_id,
       named.time_us AS named_us, named.client_id AS named_client_id
FROM (
  SELECT session_id, min(time_us) AS first_us, max(time_us) AS last_us,
         count(*) - count(client_id) AS unnamed
  FROM event AS e WHERE session_id IS NOT NULL AND {rows} GROUP BY session_id
) AS spans
LEFT JOIN (
  SELECT e.session_id, e.time_us, e.client_id, e.version_id,
         row_number() OVER (
           PARTITION BY e.session_id ORDER BY e.time_us, c.raw, v.name NULLS LAST
         ) AS place
  FROM event AS e
  JOIN client AS c ON c.id = e.client_id
  LEFT JOIN version AS v ON v.id = e.version_id
  WHERE e.kind = 6 AND e.session_id IS NOT NULL AND {rows}
) AS hello ON hello.session_id = spans.session_id AND hello.place = 1
LEFT JOIN (
  SELECT e.session_id, e.time_us, e.client_id,
         row_number() OVER (PARTITION BY e.session_id ORDER BY e.time_us, c.raw) AS place
  FROM event AS e JOIN client AS c ON c.id = e.client_id
  WHERE e.session_id IS NOT NULL AND {rows}
) AS named ON named.session_id = spans.session_id AND named.place = 1
"""
_SESSION_TRUTH = SESSION_OF.format(rows=EVERY)

SESSION_COLUMNS = (
    "first_us",
    "last_us",
    "unnamed",
    "hello_us",
    "hello_client_id",
    "hello_version_id",
    "named_us",
    "named_client_id",
)
_DIFFERS = " OR ".join(
    f"coalesce(session.{name}, -1) <> coalesce(truth.{name}, -1)" for name in SESSION_COLUMNS
)

SESSION_DIFFERENCE = f"""
SELECT session.id, session.server_id, session.digest,
       {", ".join(f"session.{name}" for name in SESSION_COLUMNS)},
       {", ".join(f"truth.{name} AS rows_{name}" for name in SESSION_COLUMNS)}
FROM session JOIN ({_SESSION_TRUTH}) AS truth ON truth.session_id = session.id
WHERE {_DIFFERS}
"""

MEND_SESSIONS = f"""
UPDATE session SET {", ".join(f"{name} = truth.{name}" for name in SESSION_COLUMNS)}
FROM ({_SESSION_TRUTH}) AS truth
WHERE truth.session_id = session.id AND ({_DIFFERS})
"""

MEND_COUNTED = f"""
UPDATE event SET counted = truth.counted
FROM ({COUNTED_DIFFERENCE}) AS truth
WHERE event.time_us = truth.time_us AND event.key = truth.key
"""

_POINTERS = ("server", "source", "batch", "client", "caller", "session", "tool", "version", "fact")

DANGLING = f"""
SELECT {
    ", ".join(
        f"coalesce(sum(CASE WHEN e.{name}_id IS NOT NULL AND t_{name}.id IS NULL "
        f"THEN 1 ELSE 0 END), 0) AS {name}"
        for name in _POINTERS
    )
}
FROM event AS e
{" ".join(f"LEFT JOIN {name} AS t_{name} ON t_{name}.id = e.{name}_id" for name in _POINTERS)}
"""
"""For each kind of thing that events point to: how many point to one that does not exist."""

_HAVE_ROWS = "SELECT session_id FROM event WHERE session_id IS NOT NULL"

STRAY_SESSION = f"SELECT count(*) FROM session WHERE id NOT IN ({_HAVE_ROWS})"

MEND_STRAY_SESSIONS = f"DELETE FROM session WHERE id NOT IN ({_HAVE_ROWS})"

STRAY_EXTRA = """
SELECT count(*) FROM event_extra AS x
LEFT JOIN event AS e ON e.time_us = x.time_us AND e.key = x.key WHERE e.key IS NULL
"""

STRAY_NATIVE = """
SELECT count(*) FROM native AS n
LEFT JOIN event AS e ON e.time_us = n.time_us AND e.key = n.key WHERE e.key IS NULL
"""

STRAY_LINE = """
SELECT count(*) FROM call_line AS l
LEFT JOIN event AS e
  ON e.time_us = l.time_us AND e.key = l.key AND e.session_id = l.session_id
WHERE e.key IS NULL
"""
