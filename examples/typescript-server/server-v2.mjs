/**
 * The server of `server.mjs` on `@modelcontextprotocol/server` 2.x, which speaks both eras: it has
 * sessions of 2025-11-25 and requests of 2026-07-28, at one address or on stdio.
 *
 *     node server-v2.mjs --log server.log               # stdio
 *     node server-v2.mjs --http 8804 --log server.log   # http://127.0.0.1:8804/mcp
 */
import {randomUUID} from "node:crypto";
import {createServer} from "node:http";
import {parseArgs} from "node:util";
import {
  NodeStreamableHTTPServerTransport,
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import {McpServer, createMcpHandler} from "@modelcontextprotocol/server";
import {StdioServerTransport, serveStdio} from "@modelcontextprotocol/server/stdio";
import {RetiredTools, jsonLogger} from "./retiredTools.mjs";
import {INFO, NAMES, OPTIONS, Toolbox} from "./tools.mjs";

const {values} = parseArgs({
  options: {http: {type: "string"}, log: {type: "string"}, retired: {type: "boolean"}},
});
const retired = new RetiredTools(NAMES, jsonLogger(values.log ?? 2));
const toolbox = new Toolbox(retired, values.retired ?? false, () => handler.notify.toolsChanged());

function build(stays) {
  const server = toolbox.equip(new McpServer(INFO, OPTIONS), stays);
  server.server.onclose = () => toolbox.forget(server);
  return server;
}

// Requests of 2026-07-28: a server for each, and the handler's own listeners.
const handler = createMcpHandler(() => build(false), {legacy: "reject"});
const modern = toNodeHandler({...handler, fetch: retired.watchFetch(handler.fetch)});

// Sessions of 2025-11-25.
const sessions = new Map();

async function serveSession(req, res) {
  const id = req.headers["mcp-session-id"];
  if (id && !sessions.has(id)) return void res.writeHead(404).end();
  if (id) return sessions.get(id).handleRequest(req, res);
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (session) => void sessions.set(session, watched),
    onsessionclosed: (session) => void sessions.delete(session),
  });
  const watched = retired.watch(transport);
  await build(true).connect(watched);
  // A request that began no session leaves nothing behind.
  res.on("close", () => transport.sessionId ?? watched.close());
  await watched.handleRequest(req, res);
}

const [hostAllowed, originAllowed] = [localhostHostValidation(), localhostOriginValidation()];

async function serve(req, res) {
  if (!hostAllowed(req, res) || !originAllowed(req, res)) return;
  if (!req.url.startsWith("/mcp")) return void res.writeHead(404).end();
  // Since 2026-07-28 each request names its version and there are no sessions.
  const version = req.headers["mcp-protocol-version"];
  await (version >= "2026-07-28" ? modern(req, res) : serveSession(req, res));
}

if (values.http) {
  const http = createServer(serve).listen(Number(values.http), "127.0.0.1", () =>
    console.log(`http://127.0.0.1:${http.address().port}/mcp`),
  );
} else serveStdio(() => build(true), {transport: retired.watch(new StdioServerTransport())});
