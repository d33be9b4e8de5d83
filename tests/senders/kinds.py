"""
Real senders: how each is set up, and what it was predicted to lose of a thousand lines.

All but the last are set up as their own documentation says for a receiver that is away now and then.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.programs import node, node_package, shipper

HERE: Final = Path(__file__).parent

Command = tuple[list[str], dict[str, str]]
"""What is started, and the variables that it gets beside those of its surroundings."""


@dataclass(frozen=True)
class Kind:
    """
    A sender.

    `command` tells what is started for a folder and the address of the service. One that *follows* reads
    `calls.log` in the folder until it is told to stop, any other its standard input to the end. `loses` is
    the most that it was predicted to lose, and `since` says why. `set_up` are the settings that matter.
    """

    title: str
    command: Callable[[Path, str], Command]
    follows: bool
    set_up: str
    loses: int
    since: str


def _script(name: str) -> Callable[[Path, str], Command]:
    return lambda folder, url: ([sys.executable, str(HERE / name), url], {})


def _pino_http_send(folder: Path, url: str) -> Command:
    program = node_package("pino-http-send") / "dist" / "bin.js"
    options = ["--bodyType=ndjson", "--batchSize=20", "--timeout=100"]
    options += ["--retries=120", "--interval=500"]
    return [node(), str(program), f"--url={url}/ingest", *options], {}


def _syslog_ng(folder: Path, url: str) -> Command:
    program, modules, variables = shipper("syslog-ng", "libhttp.so")
    command = [str(program), "--foreground", "--no-caps", "--stderr", f"--module-path={modules}"]
    command += [f"--cfgfile={HERE / 'syslog-ng.conf'}", f"--persist-file={folder / 'persist'}"]
    command += [f"--pidfile={folder / 'pid'}", f"--control={folder / 'control'}"]
    return command, {**variables, "FOLDER": str(folder), "URL": url}


def _rsyslog(configuration: str) -> Callable[[Path, str], Command]:
    def command(folder: Path, url: str) -> Command:
        program, modules, variables = shipper("rsyslogd", "omelasticsearch.so")
        given = ["-f", str(HERE / configuration), "-i", str(folder / "pid"), "-M", str(modules)]
        return [str(program), "-n", *given], {**variables, "FOLDER": str(folder), "URL": url}

    return command


KINDS: Final = {
    "otlp-sdk": Kind(
        title="OpenTelemetry SDK for Python",
        command=_script("otlp_sdk.py"),
        follows=False,
        set_up="`OTLPLogExporter(timeout=60)`, `BatchLogRecordProcessor(max_queue_size=10_000)`",
        loses=0,
        since="an export is tried six times within half a minute, and what comes meanwhile has room",
    ),
    "elasticsearch": Kind(
        title="elasticsearch for Python",
        command=_script("elasticsearch_bulk.py"),
        follows=False,
        set_up="`Elasticsearch(max_retries=60, retry_on_timeout=True, retry_backoff_base=0.1, "
        "retry_backoff_cap=1)`, `streaming_bulk(max_retries=60, raise_on_error=False)`",
        loses=0,
        since="a request is tried again for about a minute, and so is a document that has 429",
    ),
    "pino-http-send": Kind(
        title="pino-http-send",
        command=_pino_http_send,
        follows=False,
        set_up="`--retries=120 --interval=500`",
        loses=0,
        since="a request is sent again every half second for a minute, whatever made it fail",
    ),
    "syslog-ng": Kind(
        title="syslog-ng `http()`",
        command=_syslog_ng,
        follows=True,
        set_up="`disk-buffer(reliable(yes))`, `flags(flow-control)`, `time-reopen(1)`: "
        "[syslog-ng.conf](../../tests/senders/syslog-ng.conf)",
        loses=0,
        since="what was not taken stays in the queue, and is tried again every second for ever",
    ),
    "rsyslog": Kind(
        title="rsyslog `omelasticsearch`",
        command=_rsyslog("rsyslog.conf"),
        follows=True,
        set_up='`action.resumeRetryCount="-1"`, `queue.type="LinkedList"`, `queue.filename`, '
        '`retryFailures="on"` with a ruleset, `rateLimit.interval="0"`: '
        "[rsyslog.conf](../../tests/senders/rsyslog.conf)",
        loses=0,
        since="a broken connection suspends the action, which keeps its queue for ever; what has 429 "
        "comes back to the ruleset",
    ),
}
"""Those that were predicted to lose nothing, before they were run."""

AS_IT_COMES: Final = Kind(
    title="rsyslog `omelasticsearch`, as it comes",
    command=_rsyslog("rsyslog-as-it-comes.conf"),
    follows=True,
    set_up="no settings",
    loses=700,
    since="what comes while the service is away is dropped, and for half a minute afterwards",
)
"""Of a thousand lines, 300 are logged before the service goes away."""


def table() -> list[list[str]]:
    """A row for each: title, settings, what it loses of a thousand, and why."""
    return [
        [kind.title, kind.set_up, f"up to {kind.loses}" if kind.loses else "none", kind.since]
        for kind in (*KINDS.values(), AS_IT_COMES)
    ]
