# A log file as it is, or the lines of a pipe. The token travels in a header.
# curl by itself sends once; with these options it tries again for ten minutes, and stores nothing twice.
curl --fail-with-body --silent --show-error \
  --retry 60 --retry-max-time 600 --retry-all-errors --retry-delay 1 \
  --header 'Authorization: Bearer LASTCALL_TOKEN' \
  --data-binary @/var/log/mcp/server.log \
  'LASTCALL_ADDRESS/ingest?server=LASTCALL_SERVER'
