/**
 * An MCP server that renames its tools while it runs, on `@modelcontextprotocol/sdk` 1.x, which
 * ends with protocol version 2025-11-25. `server-v2.mjs` has the next one, too.
 *
 *     node server.mjs --log server.log               # stdio
 *     node server.mjs --http 8803 --log server.log   # http://127.0.0.1:8803/mcp
 */
import {randomUUID} from "node:crypto";
import {createServer} from "node:http";
import {parseArgs} from "node:util";
import {McpServer} from "@modelcontextprotocol/sdk/server/mcp.js";
import {StdioServerTransport} from "@modelcontextprotocol/sdk/server/stdio.js";
import {StreamableHTTPServerTransport} from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {RetiredTools, jsonLogger} from "./retiredTools.mjs";
import {INFO, NAMES, OPTIONS, Toolbox} from "./tools.mjs";

const {values} = parseArgs({
  options: {http: {type: "string"}, log: {type: "string"}, retired: {type: "boolean"}},
});
const retired = new RetiredTools(NAMES, jsonLogger(values.log ?? 2));
const toolbox = new Toolbox(retired, values.retired ?? false);

/** Connect a new server to a transport until that is closed. */
async function connect(transport) {
  const server = toolbox.equip(new McpServer(INFO, OPTIONS), true);
  server.server.onclose = () => toolbox.forget(server);
  const watched = retired.watch(transport);
  await server.connect(watched);
  return watched;
}

const sessions = new Map();

async function serve(req, res) {
  const id = req.headers["mcp-session-id"];
  const known = id === undefined || sessions.has(id);
  if (!req.url.startsWith("/mcp") || !known) return void res.writeHead(404).end();
  if (id) return sessions.get(id).handleRequest(req, res);
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (session) => sessions.set(session, watched),
    onsessionclosed: (session) => sessions.delete(session),
    enableDnsRebindingProtection: true,
    allowedHosts: [`127.0.0.1:${req.socket.localPort}`, `localhost:${req.socket.localPort}`],
  });
  const watched = await connect(transport);
  // A request that began no session leaves nothing behind.
  res.on("close", () => transport.sessionId ?? watched.close());
  await watched.handleRequest(req, res);
}

if (values.http) {
  const http = createServer(serve).listen(Number(values.http), "127.0.0.1", () =>
    console.log(`http://127.0.0.1:${http.address().port}/mcp`),
  );
} else await connect(new StdioServerTransport());
