// pino with the transport pino-opentelemetry-transport. The token travels in a header.
// An export is tried five times within its timeout; what waits is in memory, and has room for 10,000 records.
import pino from "pino";

// pino's own time, a number: with ISO text this transport sends nothing at all
export const logger = pino(
  pino.transport({
    target: "pino-opentelemetry-transport",
    options: {
      serviceName: "LASTCALL_SERVER",
      logRecordProcessorOptions: {
        recordProcessorType: "batch",
        exporterOptions: {
          protocol: "http/protobuf",
          protobufExporterOptions: {
            url: "LASTCALL_ADDRESS/to/LASTCALL_SERVER/v1/logs",
            headers: { Authorization: "Bearer LASTCALL_TOKEN" },
            timeoutMillis: 60_000,
          },
        },
        processorConfig: {
          maxQueueSize: 10_000,
          scheduledDelayMillis: 1000,
          exportTimeoutMillis: 60_000,
        },
      },
    },
  }),
);
