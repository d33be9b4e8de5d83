"""
Real senders, each set up as its file in `examples/shippers` says, and what it was predicted to lose of a thousand
lines.
"""

import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from dashboards.shippers import filled, shippers
from tests.programs import NODE_MODULES, UNPACKED, node, node_package, shipper, system_program

HERE: Final = Path(__file__).parent
SERVER: Final = "maps"
LOG: Final = "var/log/mcp/server.log"
"""What the examples follow, below the folder that stands for the root of the file system."""
PORT: Final = "5514"
"""Where the examples listen to `logger`; tests run beside each other."""

Feed = Literal["input", "file", "logger", "journal"]
Command = tuple[list[str], dict[str, str]]
"""What is started, and the variables that it gets beside those of its surroundings."""


@dataclass(frozen=True)
class Place:
    """Where a sender runs: a folder that stands for the root, and the service that it sends to."""

    folder: Path
    url: str
    token: str
    port: int

    def example(self, key: str, name: str) -> Path:
        """A file of `examples`, filled in, under a name; what it has below /var lies in the folder."""
        text = filled(shippers()[key].text, address=self.url, server=SERVER, token=self.token)
        text = re.sub(r"(?<![\w/])/var/", f"{self.folder}/var/", text)
        path = self.folder / name
        path.write_text(text.replace(PORT, str(self.port)), encoding="utf-8")
        return path


@dataclass(frozen=True)
class Kind:
    """
    A sender.

    `key` is that of its example. `command` tells what is started in a place. What is logged reaches it by its *feed*.
    One that *stays* is told to stop, any other ends with its standard input. `loses` is the most that it was predicted
    to lose, and `since` says why. `set_up` are the settings that matter.
    """

    title: str
    key: str
    command: Callable[[Place], Command]
    set_up: str
    loses: int
    since: str
    feed: Feed = "input"
    stays: bool = False


def _python(key: str) -> Callable[[Place], Command]:
    """A module with a function `log`."""

    def command(place: Place) -> Command:
        module = place.example(key, "example.py")
        return [sys.executable, str(HERE / "drive.py"), str(module)], {}

    return command


def _node(key: str, *packages: str) -> Callable[[Place], Command]:
    """A module with a `logger`."""

    def command(place: Place) -> Command:
        for name in packages:
            node_package(name)
        (place.folder / "node_modules").symlink_to(NODE_MODULES)
        module = place.example(key, "example.mjs")
        return [node(), str(HERE / "drive.mjs"), str(module)], {}

    return command


def _elasticsearch(place: Place) -> Command:
    return [sys.executable, str(place.example("elasticsearch-python", "example.py"))], {}


def _pino_http_send(place: Place) -> Command:
    text = place.example("pino-http-send", "example.sh").read_text(encoding="utf-8")
    (piped,) = re.findall(
        r"^node server\.mjs \| npx pino-http-send (.*)", text, re.MULTILINE | re.DOTALL
    )
    program = node_package("pino-http-send") / "dist" / "bin.js"
    return [node(), str(program), *shlex.split(piped.replace("\\\n", " "))], {}


def syslog_ng_main(example: Path) -> Path:
    """
    The file that takes in those of its folder conf.d; it alone names a version. Of scl.conf, which Debian's takes in,
    too, it has what an example uses: that one looks for the rest below the root of the file system.
    """
    path = example.with_name("syslog-ng.conf")
    taken = [example]
    if "elasticsearch-http(" in example.read_text(encoding="utf-8"):
        taken.insert(
            0, UNPACKED / "usr/share/syslog-ng/include/scl/elasticsearch/elastic-http.conf"
        )
    includes = "".join(f'@include "{each}"\n' for each in taken)
    path.write_text(f"@version: 3.38\n{includes}", encoding="utf-8")
    return path


def _syslog_ng(key: str) -> Callable[[Place], Command]:
    def command(place: Place) -> Command:
        program, modules, variables = shipper("syslog-ng", "libhttp.so")
        (place.folder / "var/lib/syslog-ng").mkdir(parents=True)
        given = ["--foreground", "--no-caps", "--stderr", f"--module-path={modules}"]
        given += [f"--cfgfile={syslog_ng_main(place.example(key, 'example.conf'))}"]
        given += [
            f"--{name}={place.folder / name}" for name in ("persist-file", "pidfile", "control")
        ]
        return [str(program), *given], variables

    return command


def _rsyslog(configuration: Callable[[Place], Path]) -> Callable[[Place], Command]:
    def command(place: Place) -> Command:
        program, modules, variables = shipper("rsyslogd", "omelasticsearch.so")
        (place.folder / "var/spool/rsyslog").mkdir(parents=True)
        given = [
            "-f",
            str(configuration(place)),
            "-i",
            str(place.folder / "pid"),
            "-M",
            str(modules),
        ]
        return [str(program), "-n", *given], {
            **variables,
            "FOLDER": str(place.folder),
            "URL": place.url,
            "TOKEN": place.token,
        }

    return command


def journal_options(text: str) -> list[str]:
    """The options that say what a journal-upload.conf says."""
    options = {
        "URL": "url",
        "ServerKeyFile": "key",
        "ServerCertificateFile": "cert",
        "TrustedCertificateFile": "trust",
    }
    given = re.findall(r"^(\w+)=(.*)", text, re.MULTILINE)
    return [f"--{options[name]}={value}" for name, value in given]


def _journal_upload(place: Place) -> Command:
    """Started again and again, as systemd does it with Restart=always."""
    program, variables = system_program("systemd-journal-upload")
    text = place.example("journal-upload", "example.conf").read_text(encoding="utf-8")
    (place.folder / "journal").mkdir()
    upload = [str(program), *journal_options(text), "--directory=journal", "--save-state=state"]
    again = f"trap 'exit 0' TERM; while :; do {shlex.join(upload)}; sleep 0.5; done"
    return ["sh", "-c", again], variables


def _link(key: str) -> str:
    """A link to an example from docs/reference."""
    name = shippers()[key].file
    return f"[{name}](../../examples/shippers/{name})"


LOSSLESS: Final = (
    Kind(
        title="OpenTelemetry SDK for Python",
        key="opentelemetry-python",
        command=_python("opentelemetry-python"),
        set_up="`OTLPLogExporter(timeout=60)`, `BatchLogRecordProcessor(max_queue_size=10_000)`: "
        + _link("opentelemetry-python"),
        loses=0,
        since="an export is tried six times within half a minute, and what comes meanwhile has room",
    ),
    Kind(
        title="elasticsearch for Python",
        key="elasticsearch-python",
        command=_elasticsearch,
        set_up="`Elasticsearch(max_retries=60, retry_on_timeout=True, retry_backoff_base=0.1, "
        "retry_backoff_cap=1)`, `streaming_bulk(max_retries=60, raise_on_error=False)`: "
        + _link("elasticsearch-python"),
        loses=0,
        since="a request is tried again for about a minute, and so is a document that has 429",
    ),
    Kind(
        title="pino-http-send",
        key="pino-http-send",
        command=_pino_http_send,
        set_up="`--retries=120 --interval=500`: " + _link("pino-http-send"),
        loses=0,
        since="a request is sent again every half second for a minute, whatever made it fail",
    ),
    Kind(
        title="syslog-ng `http()`",
        key="syslog-ng",
        command=_syslog_ng("syslog-ng"),
        feed="file",
        stays=True,
        set_up="`disk-buffer(reliable(yes))`, `flags(flow-control)`, `time-reopen(1)`: "
        + _link("syslog-ng"),
        loses=0,
        since="what was not taken stays in the queue, and is tried again every second for ever",
    ),
    Kind(
        title="rsyslog `omelasticsearch`",
        key="rsyslog",
        command=_rsyslog(lambda place: place.example("rsyslog", "example.conf")),
        feed="file",
        stays=True,
        set_up='`action.resumeRetryCount="-1"`, `queue.type="LinkedList"`, `queue.filename`, '
        '`retryFailures="on"` with a ruleset, `rateLimit.interval="0"`: ' + _link("rsyslog"),
        loses=0,
        since="a broken connection suspends the action, which keeps its queue for ever; what has 429 "
        "comes back to the ruleset",
    ),
)
KINDS: Final = {kind.key: kind for kind in LOSSLESS}
"""Those that were predicted to lose nothing, before they were run."""

MORE: Final = {
    kind.key: kind
    for kind in (
        Kind(
            title="logger, by way of syslog-ng",
            key="logger-syslog-ng",
            command=_syslog_ng("logger-syslog-ng"),
            feed="logger",
            stays=True,
            set_up="as syslog-ng: " + _link("logger-syslog-ng"),
            loses=0,
            since="syslog-ng keeps what it was handed",
        ),
        Kind(
            title="syslog-ng `elasticsearch-http()`",
            key="syslog-ng-elasticsearch",
            command=_syslog_ng("syslog-ng-elasticsearch"),
            feed="file",
            stays=True,
            set_up="as syslog-ng: " + _link("syslog-ng-elasticsearch"),
            loses=0,
            since="what was not taken stays in the queue, and is tried again every second for ever",
        ),
        Kind(
            title="logger, by way of rsyslog",
            key="logger-rsyslog",
            command=_rsyslog(lambda place: place.example("logger-rsyslog", "example.conf")),
            feed="logger",
            stays=True,
            set_up="as rsyslog: " + _link("logger-rsyslog"),
            loses=0,
            since="rsyslog keeps what it was handed",
        ),
        Kind(
            title="systemd-journal-upload",
            key="journal-upload",
            command=_journal_upload,
            feed="journal",
            stays=True,
            set_up="started again when it ends: " + _link("journal-upload"),
            loses=0,
            since="it ends at a failure, and begins again from its place in the journal",
        ),
        Kind(
            title="pino-opentelemetry-transport",
            key="pino-opentelemetry",
            command=_node("pino-opentelemetry", "pino-opentelemetry-transport"),
            set_up="`timeoutMillis: 60_000`, `exportTimeoutMillis: 60_000`, `maxQueueSize: 10_000`: "
            + _link("pino-opentelemetry"),
            loses=0,
            since="an export is tried six times, and what comes meanwhile has room",
        ),
        Kind(
            title="winston-elasticsearch",
            key="winston-elasticsearch",
            command=_node("winston-elasticsearch", "winston-elasticsearch"),
            set_up="as it comes: " + _link("winston-elasticsearch"),
            loses=0,
            since="what fails is put back, and sent again up to 400 times",
        ),
        Kind(
            title="winston-loki",
            key="winston-loki",
            command=_node("winston-loki", "winston-loki"),
            set_up="`format: winston.format.json()`: " + _link("winston-loki"),
            loses=0,
            since="what fails is put back, and sent again a minute later",
        ),
    )
}
"""Those that were predicted to lose nothing, too, and take a while to run."""

LOSING: Final = {
    kind.key: kind
    for kind in (
        Kind(
            title="pino-loki",
            key="pino-loki",
            command=_node("pino-loki", "pino-loki"),
            set_up="as it comes: " + _link("pino-loki"),
            loses=700,
            since="each batch is sent once",
        ),
        Kind(
            title="pino-elasticsearch",
            key="pino-elasticsearch",
            command=_node("pino-elasticsearch", "pino-elasticsearch"),
            set_up="as it comes, its errors heeded: " + _link("pino-elasticsearch"),
            loses=700,
            since="nothing more is sent once a request has failed four times at once; without a listener for "
            "`error` the whole server ends there",
        ),
        Kind(
            title="winston-splunk-httplogger",
            key="winston-splunk",
            command=_node("winston-splunk", "winston-splunk-httplogger"),
            stays=True,
            set_up="`maxRetries: 10`: " + _link("winston-splunk"),
            loses=700,
            since="an answer of 503 counts as delivered; a connection that breaks is tried ten times",
        ),
        Kind(
            title="splunk-logging for JavaScript",
            key="splunk-logging",
            command=_node("splunk-logging", "splunk-logging"),
            stays=True,
            set_up="`maxRetries: 10`: " + _link("splunk-logging"),
            loses=700,
            since="an answer of 503 counts as delivered; a connection that breaks is tried ten times",
        ),
        Kind(
            title="splunk-handler for Python",
            key="splunk-handler",
            command=_python("splunk-handler"),
            set_up="`retry_count=10`, `queue_size=10_000`: " + _link("splunk-handler"),
            loses=700,
            since="a batch that has failed ten times is dropped",
        ),
        Kind(
            title="splunk-hec-handler for Python",
            key="splunk-hec-handler",
            command=_python("splunk-hec-handler"),
            set_up="as it comes: " + _link("splunk-hec-handler"),
            loses=700,
            since="each line is sent once",
        ),
        Kind(
            title="python-logging-loki",
            key="python-logging-loki",
            command=_python("python-logging-loki"),
            set_up="as it comes: " + _link("python-logging-loki"),
            loses=700,
            since="each line is sent once, in the thread that logs",
        ),
        Kind(
            title="loki-logger-handler for Python",
            key="loki-logger-handler",
            command=_python("loki-logger-handler"),
            set_up="`timeout=1`, a formatter that hands the line over: "
            + _link("loki-logger-handler"),
            loses=700,
            since="each batch is sent once",
        ),
    )
}
"""Those that were predicted to lose what is logged while the service is away: of a thousand lines, 300 are logged
before."""

AS_IT_COMES: Final = Kind(
    title="rsyslog `omelasticsearch`, as it comes",
    key="rsyslog",
    command=_rsyslog(lambda _place: HERE / "rsyslog-as-it-comes.conf"),
    feed="file",
    stays=True,
    set_up="no settings",
    loses=700,
    since="what comes while the service is away is dropped, and for half a minute afterwards",
)
"""Likewise."""

RUN: Final = frozenset({*KINDS, *MORE, *LOSING, "curl"})
"""Examples that are run as they stand; curl has a test of its own."""


def table() -> list[list[str]]:
    """A row for each: title, settings, what it loses of a thousand, and why."""
    return [
        [kind.title, kind.set_up, f"up to {kind.loses}" if kind.loses else "none", kind.since]
        for kind in (*KINDS.values(), *MORE.values(), *LOSING.values(), AS_IT_COMES)
    ]
