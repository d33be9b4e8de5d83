# The lines of a pino logger through a pipe. The token travels as the password of Basic.
# A request is sent again every half second for a minute, whatever made it fail. What waits is in memory.
node server.mjs | npx pino-http-send --bodyType=ndjson --batchSize=20 --timeout=100 \
  --retries=120 --interval=500 --username=lastcall --password=LASTCALL_TOKEN \
  --url=LASTCALL_ADDRESS/to/LASTCALL_SERVER/ingest
