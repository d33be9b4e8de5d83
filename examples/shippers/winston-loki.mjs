// winston with the transport winston-loki. The token travels as the password of Basic.
// What a request fails to bring waits in memory and is sent with what is newer, a minute later.
import winston from "winston";
import LokiTransport from "winston-loki";

export const logger = winston.createLogger({
  format: winston.format.combine(winston.format.timestamp(), winston.format.json()),
  transports: [
    new LokiTransport({
      host: "LASTCALL_ADDRESS/to/LASTCALL_SERVER",
      basicAuth: "lastcall:LASTCALL_TOKEN",
      labels: { app: "LASTCALL_SERVER" },
      format: winston.format.json(), // the whole line, not a text with JSON behind it
      interval: 1,
      onConnectionError: (error) => console.error(error),
    }),
  ],
});
