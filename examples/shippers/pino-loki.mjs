// pino with the transport pino-loki. The token travels as the password of Basic.
// It sends each batch once: what is under way while the service is away is lost. Log to standard output, too,
// and let a shipper send that, where no call may be lost.
import pino from "pino";

// pino's own time, a number: ISO text becomes the timestamp "NaN" in this transport
export const logger = pino(
  pino.transport({
    target: "pino-loki",
    options: {
      host: "LASTCALL_ADDRESS",
      endpoint: "LASTCALL_PATH/to/LASTCALL_SERVER/loki/api/v1/push",
      basicAuth: { username: "lastcall", password: "LASTCALL_TOKEN" },
      batching: { interval: 1 },
    },
  }),
);
