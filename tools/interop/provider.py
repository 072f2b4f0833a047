"""What the scripts of provider clients share: one trial with a client of somebody else, and the way to the server.

A script brings a class with `send(token, topic, text)`, which returns a `Said`, and what it expects the client to say
in each case. Clients are run as they come from their publisher, TLS is verified against the local authority, and where
a client knows Apple's host names only, it reaches the server through an HTTP proxy that leads there.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import typing

import support

OTHER_APP = "com.example.other"
WITHOUT_AUTHORITY = "--without-authority"


class Said(typing.NamedTuple):
    """How the client reports the outcome, in its own words, and the timestamp it hands on, if it does."""

    words: str
    timestamp: typing.Optional[int] = None


class Key(typing.NamedTuple):
    path: str
    id: str
    team: str


class Tunnel:
    """An HTTP proxy for CONNECT, whatever the host, to the server under test. TLS passes through untouched."""

    def __init__(self, target):
        self.target = target
        self.hosts = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            if not (more := client.recv(4096)):
                return client.close()
            head += more
        self.hosts.add(head.split(b" ")[1].decode())
        server = socket.create_connection(self.target)
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        threading.Thread(target=self.copy, args=(server, client), daemon=True).start()
        self.copy(client, server)

    @staticmethod
    def copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # The other direction has ended it.


def said_by(error):
    """The usual way: an exception of its own class."""
    return f"raises {type(error).__name__}"


def run(client_class, expected, seconds=80):
    """Tries the client; `expected` has its words for good, stray, gone, disallowed, mismatched and badKey."""
    server = support.Server()
    if WITHOUT_AUTHORITY in sys.argv:
        os.environ.pop("SSL_CERT_FILE", None)
        print(attempt(client_class, server, server_key(server), "ab" * 32, support.APP, "stray").words)
        sys.exit(0)
    os.environ["SSL_CERT_FILE"] = server.authority_file
    support.run(lambda checks: asyncio.to_thread(trial, checks, server, client_class, expected), seconds)


def server_key(server):
    key = server.ready["key"]
    return Key(key["path"], key["id"], key["team"])


def attempt(client_class, server, key, token, topic, text):
    """One push by a fresh client."""
    client = client_class(server, key)
    try:
        return client.send(token, topic, text)
    finally:
        client.close()


def trial(checks, server, client_class, expected):
    key = server_key(server)
    device = server.control("POST", "devices", {"app": support.APP, "name": client_class.name, "online": True})
    token = device["token"]

    command = [sys.executable, sys.argv[0], WITHOUT_AUTHORITY]
    stranger = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    words = (stranger.stdout.strip().splitlines() or ["nothing"])[-1]
    checks.that(
        f"without the local authority it refuses the server ({words})",
        words not in ("nothing", expected["good"], expected["stray"]), f"it says {words}; {stranger.stderr[-400:]}",
    )  # fmt: skip

    client = client_class(server, key)
    said = client.send(token, support.APP, "good")
    checks.equal(f"a good push: {expected['good']}", said.words, expected["good"])
    messages = server.inbox(device["id"], 1)
    found = [(shown(m["payload"]), m["payload"].get("marker")) for m in messages]
    checks.equal("the device receives it", found, [("good", "good")])
    push = server.control("GET", "pushes", token=token)["pushes"][-1]
    checks.equal("the server sees it acknowledged", push["state"], "acknowledged")

    said = client.send("ab" * 32, support.APP, "stray")
    checks.equal(f"an unknown token: {expected['stray']}", said.words, expected["stray"])
    client.close()

    said = attempt(client_class, server, key, token, "com.nobody.knows", "disallowed")
    checks.equal(f"a topic of nobody: {expected['disallowed']}", said.words, expected["disallowed"])
    make_app(server, OTHER_APP)
    said = attempt(client_class, server, key, token, OTHER_APP, "mismatched")
    checks.equal(f"the topic of another app: {expected['mismatched']}", said.words, expected["mismatched"])

    with tempfile.NamedTemporaryFile(suffix=".p8") as file:
        make_key(file.name)
        said = attempt(client_class, server, Key(file.name, key.id, key.team), token, support.APP, "bad key")
    checks.equal(f"a wrong key: {expected['badKey']}", said.words, expected["badKey"])

    before = int(time.time() * 1000) - 1000
    server.control("PATCH", f"devices/{device['id']}", {"registered": False})
    said = attempt(client_class, server, key, token, support.APP, "gone")
    checks.equal(f"an unregistered token: {expected['gone']}", said.words, expected["gone"])
    after = int(time.time() * 1000) + 1000
    is_right = said.timestamp is not None and before <= int(said.timestamp) <= after
    checks.that("with the time in milliseconds", is_right, f"{said.timestamp!r} is not in {before}...{after}")


def shown(message):
    """The text of the alert, whichever of its two forms it has."""
    alert = message["aps"].get("alert")
    return alert.get("body") if isinstance(alert, dict) else alert


def make_app(server, bundle):
    """Another app of the same team; an earlier script may have made it."""
    known = [app["bundle"] for app in server.control("GET", "info")["apps"]]
    if bundle not in known:
        server.control("POST", "apps", {"bundle": bundle})


def make_key(path):
    """A signing key nobody registered."""
    command = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path]
    subprocess.run(command, check=True, capture_output=True)


def payload(text):
    return json.dumps(support.payload(text)).encode()
