"""
Python's logging to Last Call by loki-logger-handler. The token travels as the password of Basic.

Its own formatter puts a line into a text of a record of its own, which is read as a user's words: the formatter
below sends the line as it is. A batch is sent once: what fails is lost.
"""

import json
import logging
from datetime import datetime, timezone

from loki_logger_handler.loki_logger_handler import LokiLoggerHandler


class AsItIs(logging.Formatter):
    """Hands the line over as it was logged."""

    def format(self, record: logging.LogRecord) -> tuple[dict[str, object], dict[str, object]]:  # type: ignore[override]
        return json.loads(record.getMessage()), {}


logger = logging.getLogger("LASTCALL_SERVER")
logger.setLevel(logging.INFO)
logger.addHandler(
    LokiLoggerHandler(
        url="LASTCALL_ADDRESS/to/LASTCALL_SERVER/loki/api/v1/push",
        auth=("lastcall", "LASTCALL_TOKEN"),
        labels={"app": "LASTCALL_SERVER"},
        default_formatter=AsItIs(),
        timeout=1,
    )
)


def log(message: str, **fields: str) -> None:
    """Log a message with its fields, as `log("Retired tool called", tool="old-name", client="zed")`."""
    at = datetime.now(timezone.utc).isoformat()
    logger.info(json.dumps({"level": "info", "time": at, "msg": message, "data": fields}))
