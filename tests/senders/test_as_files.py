"""Files that are laid into the folders of programs, as the programs themselves read them."""

import os
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

import pytest

from tests.programs import shipper, system_program
from tests.senders.kinds import Place, journal_options, syslog_ng_main

ENTRY: Final = b"""__REALTIME_TIMESTAMP=1793700902000001
__MONOTONIC_TIMESTAMP=1
_BOOT_ID=0123456789abcdef0123456789abcdef
PRIORITY=6
SYSLOG_IDENTIFIER=mcp
MESSAGE=hello

"""
BUNDLE: Final = "/etc/ssl/certs/ca-certificates.crt"


@pytest.mark.parametrize("key", ["syslog-ng", "logger-syslog-ng"])
def test_syslog_ng_takes_a_file_of_its_folder_without_a_warning(key: str, tmp_path: Path) -> None:
    """The main file names the version; a second one would be warned of at each start."""
    program, modules, variables = shipper("syslog-ng", "libhttp.so")
    (tmp_path / "var/lib/syslog-ng").mkdir(parents=True)
    main = syslog_ng_main(
        Place(tmp_path, "http://127.0.0.1:8420", "none", 5514).example(key, "it.conf")
    )
    given = [
        "--syntax-only",
        "--no-caps",
        "--stderr",
        f"--module-path={modules}",
        f"--cfgfile={main}",
    ]
    given += [f"--{name}={tmp_path / name}" for name in ("persist-file", "pidfile", "control")]
    done = subprocess.run(
        [str(program), *given],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@contextmanager
def collecting(certificate: Path, key: Path) -> Iterator[tuple[int, list[str | None]]]:
    """A server with TLS: its port, and the credentials of each delivery."""
    shown: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            shown.append(self.headers["Authorization"])
            self.rfile.readline()
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, shown
        server.shutdown()


def test_journal_upload_delivers_over_https_without_a_certificate_of_its_own(
    tmp_path: Path,
) -> None:
    """With the machine's list of authorities, in whose place one of the test's own stands here."""
    program, variables = system_program("systemd-journal-upload")
    writer, _ = system_program("systemd-journal-remote")
    environment = {**os.environ, **variables}
    subprocess.run(
        [str(writer), "--output=system-1.journal", "--split-mode=none", "-"],
        cwd=tmp_path, env=environment, input=ENTRY, capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
        capture_output=True, check=True,
    )  # fmt: skip
    with collecting(certificate, key) as (port, shown):
        place = Place(tmp_path, f"https://localhost:{port}", "lct_X", 5514)
        text = place.example("journal-upload", "it.conf").read_text(encoding="utf-8")
        assert BUNDLE in text
        options = journal_options(text.replace(BUNDLE, str(certificate)))
        done = subprocess.run(
            [str(program), *options, "--file=system-1.journal", "--follow=no"],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert shown == ["Basic bGFzdGNhbGw6bGN0X1g="]  # lastcall:lct_X
