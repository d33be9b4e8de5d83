// winston with the transport winston-splunk-httplogger. The token travels in a header, as Splunk's.
// Each line is a request of its own. An answer of 503 counts as delivered: what is under way then is lost.
// A connection that breaks is tried again as often as maxRetries says.
import winston from "winston";
import SplunkStreamEvent from "winston-splunk-httplogger";

export const logger = winston.createLogger({
  format: winston.format.timestamp(),
  transports: [
    new SplunkStreamEvent({
      splunk: {
        url: "LASTCALL_SCHEME://LASTCALL_HOST:LASTCALL_PORTLASTCALL_PATH/to/LASTCALL_SERVER/services/collector/event",
        token: "LASTCALL_TOKEN",
        maxRetries: 10,
      },
      exitOnError: false,
    }),
  ],
});
