"""
Python's logging to Last Call by python-logging-loki. The token travels as the password of Basic.

Each line is a request of its own, in the thread that logs, and is sent once: what fails is lost.
"""

import json
import logging
from datetime import datetime, timezone

import logging_loki

logger = logging.getLogger("LASTCALL_SERVER")
logger.setLevel(logging.INFO)
logger.addHandler(
    logging_loki.LokiHandler(
        url="LASTCALL_ADDRESS/to/LASTCALL_SERVER/loki/api/v1/push",
        auth=("lastcall", "LASTCALL_TOKEN"),
        tags={"app": "LASTCALL_SERVER"},
        version="1",
    )
)


def log(message: str, **fields: str) -> None:
    """Log a message with its fields, as `log("Retired tool called", tool="old-name", client="zed")`."""
    at = datetime.now(timezone.utc).isoformat()
    logger.info(json.dumps({"level": "info", "time": at, "msg": message, "data": fields}))
