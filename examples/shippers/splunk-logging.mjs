// Splunk's own logger for JavaScript, splunk-logging. The token travels in a header, as Splunk's.
// An answer of 503 counts as delivered: what is under way then is lost. A connection that breaks is tried again
// as often as maxRetries says.
import { Logger } from "splunk-logging";

const splunk = new Logger({
  url: "LASTCALL_SCHEME://LASTCALL_HOST:LASTCALL_PORTLASTCALL_PATH/to/LASTCALL_SERVER/services/collector/event",
  token: "LASTCALL_TOKEN",
  batchInterval: 1000,
  maxBatchCount: 50,
  maxRetries: 10,
});

export const logger = {
  info(fields, msg) {
    const line = { level: "info", time: new Date().toISOString(), ...fields, msg };
    splunk.send({ message: line, metadata: { source: "LASTCALL_SERVER", sourcetype: "_json" } });
  },
};
