"""
Log lines to Last Call by the client of Elasticsearch. The token travels in a header, as an API key.

A request is tried again for about a minute, and so is a document that is answered 429. What waits is in memory.
"""

import json
import sys
from collections.abc import Iterable

from elasticsearch import Elasticsearch
from elasticsearch.helpers import streaming_bulk

client = Elasticsearch(
    "LASTCALL_ADDRESS/to/LASTCALL_SERVER",
    api_key="LASTCALL_TOKEN",
    retry_on_timeout=True,  # a connection that breaks, too
    max_retries=60,
    retry_backoff_base=0.1,  # without it, all retries are over at once
    retry_backoff_cap=1,
)


def send(lines: Iterable[str]) -> bool:
    """Send lines of JSON as they come, at most fifty a request; whether all were taken."""
    taken = streaming_bulk(
        client,
        ({"_op_type": "create", "_index": "mcp", "_source": json.loads(each)} for each in lines),
        chunk_size=50,
        flush_after_seconds=0.1,
        raise_on_error=False,  # else it gives up before it tries again what was answered 429
        max_retries=60,
        initial_backoff=0.5,
        max_backoff=1,
    )
    return all([ok for ok, _ in taken])


if __name__ == "__main__":
    sys.exit(0 if send(sys.stdin) else "not all was taken")
