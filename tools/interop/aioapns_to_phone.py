"""aioapns to a real `localpush phone` process: live, then away, then back with what was kept."""

import asyncio
import os
import signal
import tempfile
import uuid

import support

try:
    from aioapns import NotificationRequest, PushType
except ImportError as error:
    support.skip("aioapns to a phone", f"aioapns cannot be imported ({error})")

NAME = "interop phone"


class Phone:
    """A phone process with its state in a folder; what it prints is kept."""

    def __init__(self, server, state):
        self.server = server
        self.state = state
        self.output = ""

    async def __aenter__(self):
        self.process = await asyncio.create_subprocess_exec(
            os.environ["LOCALPUSH_BINARY"], "phone", "--server", self.server.url, "--app", support.APP,
            "--name", NAME, "--state-dir", self.state, "--json",
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        self.reader = asyncio.create_task(self.read())
        return self

    async def read(self):
        while line := await self.process.stdout.readline():
            self.output += line.decode(errors="replace")

    async def __aexit__(self, *_):
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self.process.wait(), 10)
        except asyncio.TimeoutError:
            self.process.kill()
            await self.process.wait()
        await self.reader

    async def token(self, seconds=10):
        """Its app token, once the server sees it online; None when that does not happen."""
        for _ in range(seconds * 20):
            for device in self.server.control("GET", "devices")["devices"]:
                if device["name"] == NAME and device["online"]:
                    for registration in device["registrations"]:
                        if registration["topic"] == support.APP:
                            return registration["token"]
            if self.process.returncode is not None:
                return None
            await asyncio.sleep(0.05)
        return None

    async def printed(self, text, seconds=5):
        for _ in range(seconds * 20):
            if text in self.output:
                return True
            await asyncio.sleep(0.05)
        return False


async def main(checks):
    server = support.Server()
    client = server.aioapns()

    async def send(token, text):
        request = NotificationRequest(
            device_token=token, message=support.payload(text), notification_id=str(uuid.uuid4()),
            push_type=PushType.ALERT, time_to_live=3600,
        )  # fmt: skip
        result = await client.send_notification(request)
        checks.equal(f"'{text}' is accepted", result.status, "200")
        return request.notification_id

    with tempfile.TemporaryDirectory() as state:
        async with Phone(server, state) as phone:
            token = await phone.token()
            if not checks.that("the phone comes online with a token", token, f"it said: {phone.output[-800:]}"):
                return
            push = await send(token, "to the phone")
            checks.that("the phone acknowledges it", await server.wait_async(push, "acknowledged"))
            checks.that("and prints it", await phone.printed("to the phone"), f"it said: {phone.output[-800:]}")
        checks.equal("the phone ends cleanly on SIGTERM", phone.process.returncode, 0)

        push = await send(token, "while it was away")
        checks.that("the server keeps it", await server.wait_async(push, "stored"))
        async with Phone(server, state) as phone:
            checks.equal("the phone comes back with the same token", await phone.token(), token)
            checks.that("it catches up", await server.wait_async(push, "acknowledged"))
            checks.that("and prints it", await phone.printed("while it was away"), f"it said: {phone.output[-800:]}")
    client.pool.close()


support.run(main)
