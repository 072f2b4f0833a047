"""What the interop scripts share: the server under test, an aioapns client for it, and checks of one line each."""

import asyncio
import json
import logging
import os
import ssl
import sys
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

APP = "com.example.app"


class ControlError(Exception):
    """The control API said no."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body}")
        self.status = status
        self.body = body


class Server:
    """A running server, found through its ready file (environment variable LOCALPUSH_READY)."""

    def __init__(self):
        with open(os.environ["LOCALPUSH_READY"], encoding="utf-8") as file:
            self.ready = json.load(file)
        self.url = self.ready["http"]
        self.authority_file = self.ready["ca"]
        self.apns = address(self.ready["apns"])
        self.courier = address(self.ready["courier"])

    def control(self, method, path, body=None, **query):
        """One call of the control API; `path` is below /localpush/v1."""
        url = f"{self.url}/localpush/v1/{path}"
        if query:
            url += "?" + urllib.parse.urlencode(query)
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                return json.loads(response.read() or b"{}")
        except urllib.error.HTTPError as error:
            raise ControlError(error.code, error.read().decode(errors="replace")) from None

    def wait(self, push, state, timeout="5s"):
        """The push once it has reached `state`; None when it does not in time. The reason is printed."""
        try:
            return self.control("GET", "wait", push=push, state=state, timeout=timeout)["deliveries"][0]
        except ControlError as error:
            print(f"        waiting for {state}: {error}")
            return None

    async def wait_async(self, push, state, timeout="5s"):
        return await asyncio.to_thread(self.wait, push, state, timeout)

    def inbox(self, device, count, seconds=10):
        """The first `count` messages of a virtual device; fewer when the time is over."""
        messages, after, end = [], 0, time.monotonic() + seconds
        while len(messages) < count and time.monotonic() < end:
            page = self.control("GET", f"devices/{device}/inbox", after=after, wait="1s")
            messages += page["messages"]
            after = page["next"]
        return messages

    def aioapns(self, host=None):
        """The unmodified library, pointed here: its protocol classes carry host and port as class attributes."""
        from aioapns import APNs
        from aioapns.connection import APNsDevelopmentClientProtocol

        class LocalProtocol(APNsDevelopmentClientProtocol):
            APNS_SERVER = host or self.apns[0]
            APNS_PORT = self.apns[1]

        logging.getLogger("aioapns").setLevel(logging.CRITICAL)
        key = self.ready["key"]
        with open(key["path"], encoding="ascii") as file:
            client = APNs(
                key=file.read(),
                key_id=key["id"],
                team_id=key["team"],
                topic=APP,
                use_sandbox=True,
                ssl_context=ssl.create_default_context(cafile=self.authority_file),
            )
        client.pool.protocol_class = LocalProtocol
        return client


class Checks:
    """Prints a line for each fact and remembers whether one was wrong."""

    def __init__(self):
        self.failed = 0

    def that(self, fact, condition, detail=""):
        if condition:
            print(f"  pass  {fact}", flush=True)
        else:
            self.failed += 1
            print(f"  fail  {fact}: {detail or 'it is not so'}", flush=True)
        return bool(condition)

    def equal(self, fact, found, expected):
        return self.that(fact, found == expected, f"expected {expected!r}, found {found!r}")


def skip(name, reason):
    """Says why a whole script does not run, and ends it without failing."""
    print(f"  skip  {name}: {reason}")
    sys.exit(0)


def address(text):
    """Splits `127.0.0.1:2197` or `[::1]:2197`."""
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def payload(text):
    return {"aps": {"alert": text}, "marker": text}


def run(main, seconds=60):
    """Runs `main(checks)` within a time limit; an exception is a failed check."""
    checks = Checks()
    try:
        asyncio.run(asyncio.wait_for(main(checks), seconds))
    except Exception as error:  # Whatever a library throws has to become a line of the report.
        traceback.print_exc()
        while getattr(error, "exceptions", None):
            error = error.exceptions[0]  # The cause says more than the group it came in.
        checks.that("the script runs to its end", False, f"{type(error).__name__}: {error}")
    sys.exit(1 if checks.failed else 0)
