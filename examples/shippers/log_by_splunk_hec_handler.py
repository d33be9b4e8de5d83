"""
Python's logging to Last Call by splunk-hec-handler. The token travels in a header, as Splunk's.

Each line is a request of its own, in the thread that logs, and is sent once: what fails is lost. It cannot be
told a path but /services/collector/event, so that the server must be the token's own.

By itself it raises into whatever logs while the service is away; here logging deals with that, as with any handler.
"""

import logging
from datetime import datetime, timezone

from splunk_hec_handler import SplunkHecHandler


class Quiet(SplunkHecHandler):
    """Lets nobody who logs notice that a line could not be sent."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except Exception:
            self.handleError(record)


logger = logging.getLogger("LASTCALL_SERVER")
logger.setLevel(logging.INFO)
logger.addHandler(
    Quiet(
        "LASTCALL_HOST", "LASTCALL_TOKEN", port=LASTCALL_PORT, proto="LASTCALL_SCHEME", source="mcp"
    )
)


def log(message: str, **fields: str) -> None:
    """Log a message with its fields, as `log("Retired tool called", tool="old-name", client="zed")`."""
    at = datetime.now(timezone.utc).isoformat()
    logger.info({"level": "info", "time": at, "msg": message, "data": fields})
