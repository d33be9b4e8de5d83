"""The bodies of requests, one file a protocol: pure, bytes in, records out."""
