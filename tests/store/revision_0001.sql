-- What the initial revision stored of `rich_rows` and one row that took the time of its arrival.
-- Never change it: such databases exist.

INSERT INTO activity (server_id, client_id, kind, quarter, events) VALUES
(1, 0, 1, 1990224, 1),
(1, 0, 6, 1990128, 1),
(1, 1, 1, 1990224, 2),
(1, 1, 3, 1990128, 1),
(1, 1, 5, 1990225, 1),
(1, 1, 6, 1990224, 1),
(1, 3, 6, 1990224, 1),
(1, 3, 7, 1990128, 1),
(2, 0, 4, 1990320, 1),
(2, 3, 3, 1990320, 1);

INSERT INTO arrival (key, time_us) VALUES
(13, 1791201600000000);

INSERT INTO call_day (server_id, tool_id, client_id, kind, day, calls, first_us, last_us) VALUES
(1, 2, 0, 1, 20731, 1, 1791201600000000, 1791201600000000),
(1, 2, 1, 1, 20731, 2, 1791201600000000, 1791201603000000),
(1, 2, 1, 3, 20730, 1, 1791115200000000, 1791115200000000),
(2, 1, 3, 3, 20732, 1, 1791288000000000, 1791288000000000);

INSERT INTO client (id, raw, key, name, via, version) VALUES
(1, 'Claude-AI (via mcp-remote 1)', 'claude-ai', 'Claude-AI', 'mcp-remote', NULL),
(2, 'Cursor', 'cursor', 'Cursor', NULL, NULL),
(3, 'Zed', 'zed', 'Zed', NULL, NULL);

INSERT INTO event (time_us, key, kind, server_id, source_id, batch_id, client_id, caller_id, session_id, tool_id, version_id, fact_id, outcome, counted) VALUES
(1791115200000000, 10, 3, 1, 1, 1, NULL, NULL, 1, 2, NULL, NULL, NULL, 1),
(1791115200000000, 11, 6, 1, 1, 1, NULL, NULL, 2, NULL, NULL, NULL, NULL, 1),
(1791115200000000, 12, 7, 1, 1, 1, 3, 1, 2, NULL, NULL, NULL, NULL, 1),
(1791201600000000, 1, 1, 1, 1, 1, NULL, 1, 1, 2, NULL, 1, 1, 1),
(1791201600000000, 13, 1, 1, 1, 1, NULL, NULL, NULL, 2, NULL, NULL, NULL, 1),
(1791201601000000, 2, 3, 1, 1, 1, NULL, NULL, 1, 2, NULL, NULL, NULL, 0),
(1791201602000000, 3, 2, 1, 1, 1, 2, NULL, 1, 2, 1, NULL, NULL, 0),
(1791201603000000, 4, 1, 1, 1, 1, NULL, NULL, 1, 2, NULL, 1, NULL, 1),
(1791201604000000, 5, 6, 1, 1, 1, 1, NULL, 1, NULL, NULL, NULL, NULL, 1),
(1791201604000000, 6, 6, 1, 1, 1, 3, NULL, 1, NULL, 2, NULL, NULL, 1),
(1791202800000000, 7, 5, 1, 1, 1, NULL, NULL, 1, NULL, NULL, NULL, NULL, 1),
(1791288000000000, 8, 3, 2, 1, 1, 3, NULL, NULL, 1, NULL, NULL, NULL, 1),
(1791288000000000, 9, 4, 2, 1, 1, NULL, NULL, 3, NULL, NULL, NULL, NULL, 1);

INSERT INTO event_extra (time_us, key, call, request_id, trigger, protocol_version, ttl_ms, listed_count, ns, arrival) VALUES
(1791115200000000, 11, NULL, NULL, NULL, '2025-11-25', NULL, NULL, NULL, NULL),
(1791201600000000, 13, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1),
(1791201601000000, 2, -7791537981308238430, '7', NULL, NULL, NULL, NULL, NULL, NULL),
(1791201602000000, 3, -7791537981308238430, '7', NULL, NULL, NULL, NULL, NULL, NULL),
(1791201603000000, 4, -7791537981308238430, '7', NULL, NULL, NULL, NULL, NULL, NULL),
(1791202800000000, 7, NULL, NULL, NULL, NULL, 5, 12, NULL, NULL),
(1791288000000000, 8, NULL, NULL, NULL, NULL, NULL, NULL, 999, NULL),
(1791288000000000, 9, NULL, NULL, 'release', NULL, NULL, NULL, NULL, NULL);

INSERT INTO meta (name, value) VALUES
('data_version', '2'),
('identity_secret', '1111111111111111111111111111111111111111111111111111111111111111'),
('key_secret', '0000000000000000000000000000000000000000000000000000000000000000');

INSERT INTO server (id, name) VALUES
(1, 'main'),
(2, 'other');

INSERT INTO tool (id, name) VALUES
(1, 'fine'),
(2, 'old_tool');

INSERT INTO version (id, name) VALUES
(1, '1'),
(2, '3');

INSERT INTO caller (id, server_id, level, digest, network) VALUES
(1, 1, 2, 'ab', 'n1');

INSERT INTO fact (id, server_id, tool_id, digest, last_release, replaced_by, message) VALUES
(1, 1, 2, '66201801be20f6165d41a38941b1fee8', '1.2', '["new_tool"]', 'gone');

INSERT INTO session (id, server_id, digest, hello_us, hello_client_id, hello_version_id, named_us, named_client_id, first_us, last_us, unnamed) VALUES
(1, 1, 's1', 1791201604000000, 1, NULL, 1791201602000000, 2, 1791115200000000, 1791202800000000, 5),
(2, 1, 's2', NULL, NULL, NULL, 1791115200000000, 3, 1791115200000000, 1791115200000000, 1),
(3, 2, 's1', NULL, NULL, NULL, NULL, NULL, 1791288000000000, 1791288000000000, 1);

INSERT INTO source (id, server_id, name, retired_us) VALUES
(1, 1, 'files', NULL);

INSERT INTO batch (id, source_id, kind, label, started_us) VALUES
(1, 1, 'ingest', 'run', 1791201600000000);

INSERT INTO ledger (source_id, hour, batch_id, lines) VALUES
(1, 497556, 1, 15);

INSERT INTO reject (id, batch_id, arrived_us, position, reason, excerpt, whole) VALUES
(1, 1, 1791201600000000, 3, 'missing_tool', '{"msg": "Tool called"}', TRUE);

INSERT INTO tally (batch_id, day, fate, reason, records) VALUES
(1, 20731, 'accepted', '', 13),
(1, 20731, 'ignored', '', 2),
(1, 20731, 'rejected', 'missing_tool', 1);
