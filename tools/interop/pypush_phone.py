"""pypush as a device: it attaches to the courier, mints a token, receives, acknowledges, comes back and catches up."""

import datetime
import json
import logging
import time
import uuid

import support

try:
    from aioapns import NotificationRequest, PushType
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import rsa
    from pypush import apns
    from pypush.apns import transport
except ImportError as error:
    support.skip("pypush as device", f"a library cannot be imported ({error})")


def identity():
    """A device identity: an RSA key and a certificate signed with itself."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "interop device")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .sign(key, hashes.SHA256())
    )
    return certificate, key


async def send(client, token, text):
    """Sends a push as a provider and answers with its id and status."""
    request = NotificationRequest(
        device_token=token.hex(),
        message=support.payload(text),
        notification_id=str(uuid.uuid4()),
        push_type=PushType.ALERT,
        time_to_live=3600,
    )
    result = await client.send_notification(request)
    return request.notification_id, result.status


async def receive(checks, server, connection, stream, push, text):
    """Takes one message off the stream, acknowledges it, and expects the server to have noticed."""
    message = await stream.receive()
    checks.equal(f"pypush receives '{text}'", json.loads(message.payload), support.payload(text))
    await connection.ack(message)
    checks.that(f"the server sees '{text}' acknowledged", await server.wait_async(push, "acknowledged"))
    return message


async def main(checks):
    server = support.Server()
    transport.COURIER_PORT = server.courier[1]
    logging.getLogger().setLevel(logging.ERROR)  # pypush names every item it does not know; ours are meant to be skipped.
    certificate, key = identity()
    client = server.aioapns()

    def connect(token=None):
        return apns.create_apns_connection(certificate, key, token=token, sandbox=True, courier=server.courier[0])

    async with connect() as connection:
        base = await connection.base_token
        checks.equal("the courier issues a base token of 32 bytes", len(base), 32)
        token = await connection.mint_scoped_token(support.APP)
        checks.equal("and an app token of 32 bytes", len(token), 32)

        push, status = await send(client, token, "before the filter")
        checks.equal("a push to that token is accepted", status, "200")
        checks.that("it is stored while the app is not listened for", await server.wait_async(push, "stored"))
        async with connection.notification_stream(support.APP, token) as stream:
            await receive(checks, server, connection, stream, push, "before the filter")
            push, _ = await send(client, token, "live")
            message = await receive(checks, server, connection, stream, push, "live")
            age = abs(time.time() - (message.timestamp or 0) / 1e9)
            checks.that("its time is given in nanoseconds", age < 3600, f"timestamp {message.timestamp!r}")
            checks.that("its expiry is given in seconds", (message.expiry or 0) > time.time(), f"{message.expiry!r}")

    push, status = await send(client, token, "while away")
    checks.equal("a push to a device that is away is accepted", status, "200")
    checks.that("and stored", await server.wait_async(push, "stored"))
    async with connect(base) as connection:
        checks.equal("the device keeps its base token", await connection.base_token, base)
        checks.equal("and its app token", await connection.mint_scoped_token(support.APP), token)
        async with connection.notification_stream(support.APP, token) as stream:
            message = await receive(checks, server, connection, stream, push, "while away")
            flags = message.unknown7[0] if message.unknown7 else 0
            checks.equal("it is marked as stored and as the last one", flags & 3, 3)
    client.pool.close()


support.run(main)
