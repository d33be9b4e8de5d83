"""Each line of standard input becomes a document of Elasticsearch: `elasticsearch_bulk.py URL`."""

import json
import sys
from typing import Any

from elasticsearch import Elasticsearch
from elasticsearch.helpers import streaming_bulk


def action(line: str) -> dict[str, Any]:
    """The document of a line."""
    return {"_op_type": "create", "_index": "mcp", "_source": json.loads(line)}


def main() -> None:
    """Send what is read, at most fifty lines a request."""
    client = Elasticsearch(
        sys.argv[1],
        retry_on_timeout=True,  # a connection that breaks, too
        max_retries=60,
        retry_backoff_base=0.1,  # without it, all retries are over at once
        retry_backoff_cap=1,
    )
    taken = streaming_bulk(
        client,
        map(action, sys.stdin),
        chunk_size=50,
        flush_after_seconds=0.1,
        raise_on_error=False,  # else it gives up before it tries again what was answered 429
        max_retries=60,
        initial_backoff=0.5,
        max_backoff=1,
    )
    sys.exit(0 if all(ok for ok, _ in taken) else "not all was taken")


if __name__ == "__main__":
    main()
