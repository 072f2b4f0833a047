"""aioapns as a provider: token authentication, TLS checked against the local authority, virtual devices behind it."""

import asyncio
import ssl
import uuid

import support

try:
    from aioapns import NotificationRequest, PushType
except ImportError as error:
    support.skip("aioapns as provider", f"aioapns cannot be imported ({error})")

CONCURRENT = 100


def request(token, text, **options):
    return NotificationRequest(
        device_token=token, message=support.payload(text), push_type=PushType.ALERT, time_to_live=3600, **options
    )


async def refuses_without_authority(server):
    """Whether a client that does not know the local authority refuses the server."""
    try:
        _, writer = await asyncio.open_connection(*server.apns, ssl=ssl.create_default_context())
    except ssl.SSLCertVerificationError:
        return True
    writer.close()
    return False


async def main(checks):
    server = support.Server()
    device = server.control("POST", "devices", {"app": support.APP, "name": "aioapns", "online": True})
    token = device["token"]
    checks.that("TLS is checked: without the local authority the server is refused", await refuses_without_authority(server))

    client = server.aioapns()
    first = request(token, "first", notification_id=str(uuid.uuid4()))
    result = await client.send_notification(first)
    checks.equal("a push is accepted", (result.status, result.description), ("200", None))
    checks.equal("its apns-id comes back", result.notification_id, first.notification_id)
    delivery = await server.wait_async(first.notification_id, "acknowledged")
    checks.that("the device acknowledges it", delivery)
    messages = server.inbox(device["id"], 1)
    checks.equal("the inbox holds its payload", [m["payload"] for m in messages], [first.message])

    result = await client.send_notification(request("ab" * 32, "stray"))
    checks.equal("an unknown token is refused", (result.status, result.description), ("400", "BadDeviceToken"))

    texts = [f"number {number}" for number in range(CONCURRENT)]
    results = await asyncio.gather(*(client.send_notification(request(token, text)) for text in texts))
    accepted = sum(result.status == "200" for result in results)
    checks.equal(f"{CONCURRENT} pushes at once are accepted", accepted, CONCURRENT)
    messages = server.inbox(device["id"], 1 + CONCURRENT)
    found = sorted(m["payload"]["marker"] for m in messages[1:])
    checks.equal(f"all {CONCURRENT} arrive, each once", found, sorted(texts))

    server.control("PATCH", f"devices/{device['id']}", {"registered": False})
    result = await client.send_notification(request(token, "too late"))
    checks.equal("an unregistered token is gone", (result.status, result.description), ("410", "Unregistered"))
    checks.that("with the time in milliseconds", (result.timestamp or 0) > 1_600_000_000_000, f"{result.timestamp!r}")
    client.pool.close()

    other = server.control("POST", "devices", {"app": support.APP, "name": "by name", "online": True})
    client = server.aioapns(host="localhost")
    result = await client.send_notification(request(other["token"], "by name"))
    checks.equal("the server answers under the name localhost too", result.status, "200")
    client.pool.close()


support.run(main)
