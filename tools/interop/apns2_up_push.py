"""apns2-up, a maintained fork of apns2 (PyAPNs2), as a provider."""

import logging
import ssl

import provider
import support

try:
    from apns2.client import APNsClient
    from apns2.credentials import TokenCredentials
    from apns2.errors import APNsException
    from apns2.payload import Payload
except ImportError as error:
    support.skip("apns2-up as provider", f"apns2-up cannot be imported ({error})")
if not hasattr(ssl, "match_hostname"):
    support.skip("apns2-up as provider", "its HTTP/2 library calls ssl.match_hostname, which Python 3.12 removed")

logging.getLogger("apns2").setLevel(logging.CRITICAL)


class Client:
    """No parameter names host and port (its proxy cannot carry TLS); they are attributes of the class."""

    name = "apns2-up"

    def __init__(self, server, key):
        class LocalClient(APNsClient):
            SANDBOX_SERVER, DEFAULT_PORT = server.apns

        credentials = TokenCredentials(auth_key_path=key.path, auth_key_id=key.id, team_id=key.team)
        self.client = LocalClient(credentials, use_sandbox=True)

    def send(self, token, topic, text):
        notification = Payload(alert=text, custom={"marker": text})
        try:
            self.client.send_notification(token, notification, topic)
        except APNsException as error:
            return provider.Said(provider.said_by(error), getattr(error, "timestamp", None))
        except (OSError, ssl.SSLError) as error:
            return provider.Said(provider.said_by(error))
        return provider.Said("returns")

    def close(self):
        self.client._connection.close()


EXPECTED = {
    "good": "returns",
    "stray": "raises BadDeviceToken",
    "gone": "raises Unregistered",
    "disallowed": "raises TopicDisallowed",
    "mismatched": "raises DeviceTokenNotForTopic",
    "badKey": "raises InvalidProviderToken",
}

provider.run(Client, EXPECTED)
