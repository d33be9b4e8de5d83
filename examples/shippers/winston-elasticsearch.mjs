// winston with the transport winston-elasticsearch. The token travels as the password of Basic.
// What fails is put back and sent again, up to 400 times; it waits in memory.
import winston from "winston";
import { ElasticsearchTransport } from "winston-elasticsearch";

export const logger = winston.createLogger({
  format: winston.format.timestamp(),
  transports: [
    new ElasticsearchTransport({
      clientOpts: {
        node: "LASTCALL_ADDRESS/to/LASTCALL_SERVER",
        auth: { username: "lastcall", password: "LASTCALL_TOKEN" },
      },
      index: "mcp",
      flushInterval: 1000,
      ensureIndexTemplate: false,
    }),
  ],
});
