/** The tools of `server-everything` before and after it renamed them, for either SDK. */
import {readFileSync} from "node:fs";
import {setTimeout as sleep} from "node:timers/promises";
import {gzipSync} from "node:zlib";
import {z} from "zod";

/** @type {Record<string, import("./retiredTools.mjs").Facts>} */
export const NAMES = JSON.parse(readFileSync(new URL("../retired.json", import.meta.url), "utf8"));

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ" +
  "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const text = (value) => ({content: [{type: "text", text: value}]});
const gzip = (name, data) => `${name}.gz ${gzipSync(data).toString("base64")}`;

/** Name to [description, inputs, handler]. */
const CURRENT = {
  echo: ["Say the message again", {message: z.string()}, ({message}) => text(`Echo: ${message}`)],
  "get-sum": [
    "Add two numbers",
    {a: z.number(), b: z.number()},
    ({a, b}) => text(`The sum of ${a} and ${b} is ${a + b}.`),
  ],
  "get-annotated-message": [
    "Return a message of a type",
    {messageType: z.string(), includeImage: z.boolean().default(false)},
    (inputs) => text(`${inputs.messageType}: with${inputs.includeImage ? "" : "out"} an image`),
  ],
  "get-resource-links": [
    "Return links to resources",
    {count: z.number().default(3)},
    ({count}) => text(Array.from({length: count}, (_, i) => `demo://resource/${i + 1}`).join("\n")),
  ],
  "get-resource-reference": [
    "Return a reference to a resource",
    {resourceId: z.number(), resourceType: z.string().default("Text")},
    (inputs) => text(`demo://resource/${inputs.resourceType.toLowerCase()}/${inputs.resourceId}`),
  ],
  "get-tiny-image": [
    "Return an image of one pixel",
    {},
    () => ({content: [{type: "image", data: PIXEL, mimeType: "image/png"}]}),
  ],
  "trigger-long-running-operation": [
    "Wait",
    {duration: z.number().default(0.1), steps: z.number().default(2)},
    async ({duration, steps}) => {
      await sleep(duration * 1000);
      return text(`Done after ${duration} s in ${steps} steps.`);
    },
  ],
  "get-env": [
    "Return what the server runs on; the environment itself would hold secrets",
    {},
    () => text(`node ${process.version} on ${process.platform}`),
  ],
  "get-structured-content": [
    "Return the weather of a place",
    {location: z.string()},
    ({location}) => text(JSON.stringify({location, temperature: 21, conditions: "sunny"})),
  ],
  "gzip-file-as-resource": [
    "Compress a text",
    {name: z.string(), data: z.string()},
    ({name, data}) => text(gzip(name, data)),
  ],
};

const OLD = {
  echo: CURRENT.echo,
  sampleLLM: [
    "Stand for a request to a language model",
    {prompt: z.string()},
    ({prompt}) => text(`No model was asked: ${prompt}`),
  ],
  zip: [
    "Compress several texts",
    {files: z.record(z.string(), z.string())},
    ({files}) => text(Object.entries(files).map(([name, data]) => gzip(name, data)).join("\n")),
  ],
};
for (const [old, {replacedBy}] of Object.entries(NAMES)) OLD[old] ??= CURRENT[replacedBy[0]];

export class Toolbox {
  /** Servers that outlive a request, with the tools that each offers. */
  #offered = new Map();

  /**
   * @param {import("./retiredTools.mjs").RetiredTools} retired
   * @param {boolean} alreadyRetired begin after the retirement
   * @param {() => void} [notify] tells listeners that belong to no server
   */
  constructor(retired, alreadyRetired, notify = () => {}) {
    this.retired = retired;
    this.current = alreadyRetired;
    this.notify = notify;
  }

  /** Give a server its tools; one that stays is changed, and so notified, at the retirement. */
  equip(server, stays) {
    const registered = this.#offer(server);
    if (stays) this.#offered.set(server, registered);
    const description = "Replace the old tools by the new ones";
    server.registerTool("retire-old-names", {description}, () => this.#retire());
    return server;
  }

  /** Forget a server that has been closed. */
  forget(server) {
    this.#offered.delete(server);
  }

  #offer(server) {
    const tools = Object.entries(this.current ? CURRENT : OLD);
    return tools.map(([name, [description, inputs, handler]]) =>
      server.registerTool(name, {description, inputSchema: z.object(inputs)}, handler),
    );
  }

  #retire() {
    if (this.current) return text("The old names are retired already.");
    this.current = true;
    this.retired.trigger = "retire-old-names";
    for (const [server, registered] of this.#offered) {
      for (const tool of registered) tool.remove();
      this.#offered.set(server, this.#offer(server));
    }
    this.notify();
    return text(`${Object.keys(NAMES).length} names retired.`);
  }
}

/** What both servers are created with: one notification for a change, not one for each tool. */
export const OPTIONS = {
  capabilities: {tools: {listChanged: true}},
  debouncedNotificationMethods: ["notifications/tools/list_changed"],
};
export const INFO = {name: "everything", version: "2026.1.26"};
