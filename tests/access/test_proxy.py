"""Behind a real nginx with TLS, set up as the guide says."""

import re
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.access.conftest import LINE
from tests.access.served import secret_of, served
from tests.faults.programs import free_port, until
from tests.house.checkout import ROOT
from tests.programs import nginx

GUIDE = (ROOT / "docs" / "guides" / "access.md").read_text(encoding="utf-8")
NAME = "calls.example"


def guide_config(folder: Path, service: int, port: int, location: str = "/") -> Path:
    """The guide's server, on other ports, within the least that nginx needs around it."""
    found = re.search(r"```nginx\n(.*?)```", GUIDE, re.DOTALL)
    assert found is not None
    server = found[1]
    for old, new in (
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("http://127.0.0.1:8420;", f"http://127.0.0.1:{service}{'/' if location != '/' else ''};"),
        ("/etc/ssl/calls.example.pem", str(folder / "cert.pem")),
        ("/etc/ssl/calls.example.key", str(folder / "key.pem")),
        ("location / {", f"location {location} {{"),
    ):
        assert old in server
        server = server.replace(old, new)
    places = "\n".join(
        f"    {name}_temp_path {folder}/{name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\n    access_log off;\n{places}\n{server}\n}}\n"
    )
    return config


@contextmanager
def proxied(folder: Path, service: int, location: str = "/") -> Iterator[httpx.Client]:
    """A browser that comes through nginx."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}",
         "-addext", f"subjectAltName=DNS:{NAME},DNS:localhost", "-keyout", folder / "key.pem",
         "-out", folder / "cert.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    program, variables = nginx()
    port = free_port()
    config = guide_config(folder, service, port, location)
    command = [str(program), "-p", str(folder), "-c", str(config), "-e", f"{folder}/error.log"]
    tested = subprocess.run(
        [*command, "-t"], env=variables, capture_output=True, text=True, check=False
    )
    assert tested.returncode == 0, tested.stderr
    with subprocess.Popen(command, env=variables, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: answers(port), "the start of nginx")
            trusted = ssl.create_default_context(cafile=folder / "cert.pem")
            base = f"https://localhost:{port}"
            with httpx.Client(base_url=base, verify=trusted, timeout=30) as client:
                yield client
        finally:
            process.terminate()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("root", ["", "/lastcall"])
def test_people_log_in_and_senders_deliver_through_nginx(root: str, tmp_path: Path) -> None:
    """With TLS, so the cookie is Secure; below a path that the proxy takes off, too."""
    database = tmp_path / "calls.db"
    admin, sender = secret_of(database, "anna", "admin"), secret_of(database, "v", "ingest:maps")
    options = ["--root-path", root] if root else []
    with (
        served(database, *options, allowed_hosts=f"{NAME},localhost") as (port, _),
        proxied(tmp_path, port, f"{root}/" if root else "/") as client,
    ):
        own = {"Origin": str(client.base_url).rstrip("/")}
        sent = client.get(f"{root}/clients")
        assert sent.headers["location"] == f"{root}/login?next={root.replace('/', '%2F')}%2Fclients"
        form = {"token": admin, "next": f"{root}/clients"}
        answer = client.post(f"{root}/login", data=form, headers=own)
        assert (answer.status_code, answer.headers["location"]) == (303, f"{root}/clients")
        assert "Secure" in answer.headers["set-cookie"]
        page = client.get(f"{root}/clients")
        assert page.status_code == 200
        assert client.get(f"{root}/static/site.css").status_code == 200
        told = {"client": "a", "target": "b", "back": f"{root}/told"}
        assert client.post(f"{root}/tell-alias", data=told, headers=own).status_code == 303
        evil = client.post(
            f"{root}/tell-unalias", data=told, headers={"Origin": "https://evil.example"}
        )
        assert evil.status_code == 403
        bearer = {"Authorization": f"Bearer {sender}"}
        taken = client.post(f"{root}/to/maps/ingest", content=LINE, headers=bearer)
        assert taken.json()["accepted"] == 1
        other = client.get(f"{root}/", headers={"Host": "evil.example"})
        assert other.status_code == 403


def test_what_a_proxy_is_said_to_say_is_believed_from_its_address_alone(tmp_path: Path) -> None:
    database = tmp_path / "calls.db"
    secret = secret_of(database, "anna", "read")
    said = {"X-Forwarded-Proto": "https", "Origin": "https://localhost"}
    for trusted, is_secure in (("127.0.0.1", True), ("192.0.2.0/24", False)):
        with served(database, forwarded_allow_ips=trusted) as (port, _):
            headers = said | {"Host": "localhost"}
            url = f"http://127.0.0.1:{port}/login"
            answer = httpx.post(url, data={"token": secret}, headers=headers)
            assert answer.status_code == 303
            assert ("Secure" in answer.headers["set-cookie"]) is is_secure
