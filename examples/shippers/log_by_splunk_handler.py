"""
Python's logging to Last Call by splunk-handler. The token travels in a header, as Splunk's.

A batch is tried again, ten times here, and dropped then. What waits is in memory.
"""

import json
import logging
from datetime import datetime, timezone

from splunk_handler import SplunkHandler

logger = logging.getLogger("LASTCALL_SERVER")
logger.setLevel(logging.INFO)
logger.addHandler(
    SplunkHandler(
        host="LASTCALL_HOST",
        port="LASTCALL_PORT",
        protocol="LASTCALL_SCHEME",
        url="LASTCALL_ADDRESS/to/LASTCALL_SERVER/services/collector/event",
        verify="LASTCALL_SCHEME" == "https",
        token="LASTCALL_TOKEN",
        index="mcp",
        flush_interval=1.0,
        retry_count=10,
        retry_backoff=0.5,
        queue_size=10_000,
    )
)


def log(message: str, **fields: str) -> None:
    """Log a message with its fields, as `log("Retired tool called", tool="old-name", client="zed")`."""
    at = datetime.now(timezone.utc).isoformat()
    logger.info(json.dumps({"level": "info", "time": at, "msg": message, "data": fields}))
