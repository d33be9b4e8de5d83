# What a container writes, by Docker's driver for Loki. The token travels as the password of Basic, in the address.
# The driver drops a batch after loki-retries tries, and its memory ends with the container. Where no line may be
# lost, leave Docker's own json-file driver, and let a shipper read /var/lib/docker/containers/*/*-json.log.
# The address is as the daemon sees it: 127.0.0.1 is the host here.
# Not run by a test: its requests are checked by the recordings of another sender of Loki's protobuf.
docker plugin install grafana/loki-docker-driver:latest --alias loki --grant-all-permissions
docker run --log-driver=loki --log-opt loki-retries=100 --log-opt loki-max-backoff=60s \
  --log-opt 'loki-url=LASTCALL_SCHEME://lastcall:LASTCALL_TOKEN@LASTCALL_HOST:LASTCALL_PORTLASTCALL_PATH/to/LASTCALL_SERVER/loki/api/v1/push' \
  my-mcp-server
