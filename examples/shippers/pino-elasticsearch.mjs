// pino with the transport pino-elasticsearch. The token travels as the password of Basic.
// Its client tries a request three more times at once. Then it has failed, and nothing more is sent until the server
// starts again; without the second statement the whole server would end there. Prefer pino-opentelemetry-transport.
import pino from "pino";

const transport = pino.transport({
  target: "pino-elasticsearch",
  options: {
    node: "LASTCALL_ADDRESS/to/LASTCALL_SERVER",
    auth: { username: "lastcall", password: "LASTCALL_TOKEN" },
    esVersion: 8,
    index: "mcp",
    flushInterval: 1000,
  },
});
transport.on("error", (error) => console.error("logs are no longer sent:", error.message));

export const logger = pino(transport);
