/**
 * Stands in front of any server on stdio and answers for the names that it has dropped, where its code is
 * not yours to change: `server-everything` since it renamed its tools.
 *
 *     node in-front.mjs --log server.log -- npx -y @modelcontextprotocol/server-everything
 */
import {parseArgs} from "node:util";
import {StdioClientTransport} from "@modelcontextprotocol/sdk/client/stdio.js";
import {StdioServerTransport} from "@modelcontextprotocol/sdk/server/stdio.js";
import {RetiredTools, jsonLogger} from "./retiredTools.mjs";
import {NAMES} from "./tools.mjs";

const {values, positionals} = parseArgs({options: {log: {type: "string"}}, allowPositionals: true});
const [command, ...args] = positionals;
const retired = new RetiredTools(NAMES, jsonLogger(values.log ?? 2));
const client = retired.watch(new StdioServerTransport());
const server = new StdioClientTransport({command, args, env: process.env});

client.onmessage = (message) => server.send(message);
server.onmessage = (message) => client.send(message);
// Whoever leaves first takes the other along.
server.onclose = () => client.close();
process.stdin.on("end", () => server.close());
await server.start();
await client.start();
