/**
 * Answer calls to retired tools and log who makes them. Copy this file into a server on
 * `@modelcontextprotocol/sdk` 1.x or `@modelcontextprotocol/server` 2.x, and connect it:
 *
 *     const retired = new RetiredTools(names, jsonLogger(2));
 *     await server.connect(retired.watch(transport));   // stdio, or sessions over HTTP
 *     serveStdio(factory, {transport: retired.watch(new StdioServerTransport())});   // 2.x
 *     toNodeHandler({...handler, fetch: retired.watchFetch(handler.fetch)});   // 2.x, 2026-07-28
 *
 * It stands between the SDK and its transport, so every line is about a message that came or went.
 */
import {randomUUID} from "node:crypto";
import pino from "pino";

const CLIENT_INFO = "io.modelcontextprotocol/clientInfo";
const PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";
const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

/**
 * A logger of JSON lines; never on standard output, which belongs to MCP on stdio. Nanoseconds tell
 * two equal calls from one line that was delivered twice.
 * @param {string | number} destination a file, or the number of an open one
 */
export function jsonLogger(destination) {
  const options = {
    timestamp: pino.stdTimeFunctions.isoTimeNano,
    formatters: {level: (label) => ({level: label})},
  };
  return pino(options, pino.destination({dest: destination, sync: true}));
}

/** @typedef {{lastRelease: string, replacedBy: string[], inputs: string}} Facts */

export class RetiredTools {
  /** What made the list change; name it before it does. */
  trigger = "";

  /**
   * @param {Record<string, Facts>} names the retired names
   * @param {import("pino").Logger} log
   */
  constructor(names, log) {
    this.names = names;
    this.log = log;
  }

  /** What a caller of a retired name is told: the replacement, and how inputs map. */
  answer(tool) {
    const {lastRelease, replacedBy, inputs} = this.names[tool];
    const gone = `The tool '${tool}' was retired after ${lastRelease}`;
    if (replacedBy.length === 0) return `${gone} and nothing replaces it. List the tools again.`;
    const now = replacedBy.map((name) => `'${name}'`).join(" and ");
    return `${gone}. Call ${now} instead; its inputs: ${inputs}.`;
  }

  /** Wrap a transport of a session: connect the server to what this returns. */
  watch(inner) {
    const stdio = !("handleRequest" in inner);
    const talk = new Conversation(this, stdio ? {transport: "stdio", sessionId: randomUUID()} : {});
    let streams = stdio ? 1 : 0; // channels for notifications: the pipe, or open GET streams
    const outer = {
      async start() {
        inner.onclose = () => outer.onclose?.();
        inner.onerror = (error) => outer.onerror?.(error);
        inner.onmessage = (message, extra) => {
          talk.receive(message);
          outer.onmessage?.(message, extra);
        };
        await inner.start();
      },
      async send(message, options) {
        const [sent, tell] = talk.send(message);
        await inner.send(sent, options);
        if (!stdio) talk.fields.sessionId = inner.sessionId;
        // Without a stream the SDK drops a notification, and says nothing.
        if (streams > 0 || !("method" in message)) tell();
      },
      close: () => inner.close(),
      setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
      setSupportedProtocolVersions: (versions) => inner.setSupportedProtocolVersions?.(versions),
      get sessionId() {
        return inner.sessionId;
      },
      /** Serve an HTTP request; a GET stream is the session's channel, opened by no message. */
      handleRequest(req, res, body) {
        const writeHead = res.writeHead;
        res.writeHead = (status, ...rest) => {
          if (req.method === "GET" && status === 200) {
            streams += 1;
            res.on("close", () => (streams -= 1));
            talk.log("info", "Tool list subscription opened");
          }
          return writeHead.call(res, status, ...rest);
        };
        return inner.handleRequest(req, res, body);
      },
    };
    return outer;
  }

  /** Wrap the fetch of `createMcpHandler`, which has no sessions. */
  watchFetch(fetch) {
    return async (request, options) => {
      const talk = new Conversation(this, {});
      talk.receive(await request.clone().json().catch(() => ({})));
      const response = await fetch(request, options);
      const type = response.headers.get("content-type") ?? "";
      const headers = new Headers(response.headers);
      headers.delete("content-length");
      if (type.startsWith("text/event-stream")) {
        const transform = (chunk, out) => out.enqueue(talk.frame(chunk));
        const body = response.body.pipeThrough(new TransformStream({transform}));
        return new Response(body, {status: response.status, headers});
      }
      if (!type.startsWith("application/json")) return response;
      const message = await response.json();
      const [sent, tell] = talk.send(message);
      tell();
      const status = sent === message ? response.status : 200;
      return new Response(JSON.stringify(sent), {status, headers});
    };
  }
}

/** The messages of one session, or of one request where there are none. */
class Conversation {
  #asked = new Map();

  constructor(retired, fields) {
    this.retired = retired;
    this.fields = fields;
  }

  log(level, text, data = {}, about = {}) {
    this.retired.log[level]({data: {...this.fields, ...about, ...data}}, text);
  }

  receive(message) {
    if (message.id !== undefined && message.method) this.#asked.set(message.id, message);
    // clientInfo comes with `initialize`, and since 2026-07-28 with each request.
    const meta = message.params?._meta ?? {};
    const info = message.params?.clientInfo ?? meta[CLIENT_INFO];
    if (info) Object.assign(this.fields, {client: info.name, clientVersion: info.version});
    if (meta[PROTOCOL_VERSION]) this.fields.protocolVersion = meta[PROTOCOL_VERSION];
  }

  /** Return what to send for a message, and what to call once it is sent. */
  send(message) {
    const about = (id) => (id === undefined ? {} : {requestId: String(id)});
    const id = message.params?._meta?.[SUBSCRIPTION_ID];
    const line = (...args) => [message, () => this.log("info", ...args)];
    const {trigger} = this.retired;
    if (message.method === "notifications/tools/list_changed")
      return line("Tool list changed notification sent", {trigger}, about(id));
    const honoured = message.params?.notifications; // only an acknowledgement has them
    if (honoured?.toolsListChanged)
      return line("Tool list subscription opened", {}, about(id));
    const asked = message.method ? undefined : this.#asked.get(message.id);
    this.#asked.delete(asked?.id);
    if (asked?.method === "tools/call") return this.#called(asked, message, about(asked.id));
    if (!asked || !message.result) return [message, () => {}];
    const {protocolVersion, tools, ttlMs} = message.result;
    if (protocolVersion) this.fields.protocolVersion = protocolVersion;
    if (asked.method === "initialize" || asked.method === "server/discover")
      return line("Client initialized", {}, about(asked.id));
    if (asked.method === "tools/list")
      return line("Tools listed", {listedCount: tools.length, ttlMs}, about(asked.id));
    return [message, () => {}];
  }

  /** A name that still works is not retired yet; the SDK's answer tells. */
  #called(asked, message, about) {
    const tool = asked.params.name;
    const {names} = this.retired;
    const {error, result: told} = message;
    const text = error?.message ?? (told.isError && told.content[0]?.text);
    const unknown = `Tool ${tool} not found`;
    if (!text || !text.endsWith(unknown))
      return [message, () => this.log("info", "Tool called", {tool}, about)];
    if (!Object.hasOwn(names, tool))
      return [message, () => this.log("warn", unknown, {tool}, about)];
    const {lastRelease, replacedBy} = names[tool];
    const answer = this.retired.answer(tool);
    const data = {tool, lastRelease, replacedBy, message: answer};
    const result = {content: [{type: "text", text: answer}], isError: true};
    if (asked.params._meta?.[PROTOCOL_VERSION]) result.resultType = "complete"; // since 2026-07-28
    const sent = {jsonrpc: "2.0", id: message.id, result};
    return [sent, () => this.log("warn", "Retired tool called", data, about)];
  }

  /** Pass on a frame of an event stream; the SDK writes whole frames. */
  frame(chunk) {
    const text = new TextDecoder().decode(chunk);
    const found = /^data: (\{.*\})\r?$/m.exec(text);
    if (!found) return chunk;
    const [sent, tell] = this.send(JSON.parse(found[1]));
    tell();
    return new TextEncoder().encode(text.replace(found[1], () => JSON.stringify(sent)));
  }
}
