"""pyapns-client as a provider: a client on httpx."""

import os

import provider
import support

try:
    from pyapns_client import APNSClient, APNSException, IOSNotification, IOSPayload, IOSPayloadAlert
except ImportError as error:
    support.skip("pyapns-client as provider", f"pyapns-client cannot be imported ({error})")


class Client:
    """Host and port are Apple's; the environment variable HTTPS_PROXY, which httpx reads, leads here."""

    name = "pyapns-client"

    def __init__(self, server, key):
        os.environ["HTTPS_PROXY"] = provider.Tunnel(server.apns).url
        self.client = APNSClient(
            mode=APNSClient.MODE_DEV, root_cert_path=os.environ.get("SSL_CERT_FILE"), auth_key_path=key.path,
            auth_key_id=key.id, team_id=key.team,
        )  # fmt: skip

    def send(self, token, topic, text):
        alert = IOSPayloadAlert(body=text)
        notification = IOSNotification(
            payload=IOSPayload(alert=alert, custom={"marker": text}), topic=topic, push_type="alert"
        )
        try:
            self.client.push(notification=notification, device_token=token)
        except APNSException as error:
            return provider.Said(provider.said_by(error), getattr(error, "timestamp", None))
        return provider.Said("returns")

    def close(self):
        self.client.close()


EXPECTED = {
    "good": "returns",
    "stray": "raises BadDeviceTokenException",
    "gone": "raises UnregisteredException",
    "disallowed": "raises TopicDisallowedException",
    "mismatched": "raises DeviceTokenNotForTopicException",
    "badKey": "raises InvalidProviderTokenException",
}

provider.run(Client, EXPECTED)
