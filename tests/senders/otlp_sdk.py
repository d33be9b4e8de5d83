"""Each line of standard input becomes the body of an OpenTelemetry log record: `otlp_sdk.py URL`."""

import sys

from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor


def main() -> None:
    """Send what is read as it is read, and the rest at the end."""
    # By default, tries end after ten seconds.
    exporter = OTLPLogExporter(endpoint=f"{sys.argv[1]}/v1/logs", timeout=60)
    provider = LoggerProvider()
    provider.add_log_record_processor(
        BatchLogRecordProcessor(
            exporter, schedule_delay_millis=100, max_export_batch_size=50, max_queue_size=10_000
        )
    )
    logger = provider.get_logger("calls")
    for line in sys.stdin:
        logger.emit(LogRecord(body=line.rstrip("\n")))
    provider.force_flush()
    provider.shutdown()


if __name__ == "__main__":
    main()
