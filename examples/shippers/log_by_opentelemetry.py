"""
Log records to Last Call by the SDK of OpenTelemetry. The token travels in a header.

An export is tried six times within half a minute. What waits is in memory, and has room for 10,000 records.
"""

import time

from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

exporter = OTLPLogExporter(
    endpoint="LASTCALL_ADDRESS/to/LASTCALL_SERVER/v1/logs",
    headers={"Authorization": "Bearer LASTCALL_TOKEN"},
    timeout=60,  # seconds; without it, tries end after ten
)
provider = LoggerProvider()  # what waits is sent when the program ends
provider.add_log_record_processor(
    BatchLogRecordProcessor(
        exporter, schedule_delay_millis=1_000, max_export_batch_size=50, max_queue_size=10_000
    )
)
_logger = provider.get_logger("LASTCALL_SERVER")


def log(message: str, **fields: str) -> None:
    """Log a message with its fields, as `log("Retired tool called", tool="old-name", client="zed")`."""
    _logger.emit(timestamp=time.time_ns(), body=message, attributes=fields)
