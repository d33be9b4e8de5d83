// Logs the calls of standard input by the logger of an example, as a server would: `drive.mjs MODULE`.
import { createInterface } from "node:readline";

const { logger } = await import(process.argv[2]);
for await (const line of createInterface({ input: process.stdin })) {
  const { msg, data } = JSON.parse(line);
  if (logger.transports) logger.info(msg, { data });
  else logger.info({ data }, msg);
}
if (logger.transports && logger.end) logger.end();
