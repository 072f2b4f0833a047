"""kalyke-apns as a provider: a client on httpx2, a connection for each push."""

import asyncio
import os

import provider
import support

try:
    import httpx2
    from kalyke import ApnsClient, ApnsConfig
    from kalyke.exceptions import ApnsProviderException
except ImportError as error:
    support.skip("kalyke-apns as provider", f"kalyke-apns cannot be imported ({error})")


class Client:
    """Host and port are Apple's and no parameter changes them; the environment variable HTTPS_PROXY leads here."""

    name = "kalyke-apns"

    def __init__(self, server, key):
        os.environ["HTTPS_PROXY"] = provider.Tunnel(server.apns).url
        self.client = ApnsClient(
            use_sandbox=True, team_id=key.team, auth_key_id=key.id, auth_key_filepath=key.path
        )

    def send(self, token, topic, text):
        push = self.client.send_message(
            device_token=token, payload=support.payload(text), apns_config=ApnsConfig(topic=topic)
        )
        try:
            return provider.Said("returns an id" if len(asyncio.run(push)) == 36 else "returns something else")
        except ApnsProviderException as error:
            return provider.Said(provider.said_by(error), error.error.get("timestamp"))
        except httpx2.HTTPError as error:
            return provider.Said(provider.said_by(error))

    def close(self):
        pass


EXPECTED = {
    "good": "returns an id",
    "stray": "raises BadDeviceToken",
    "gone": "raises Unregistered",
    "disallowed": "raises TopicDisallowed",
    "mismatched": "raises DeviceTokenNotForTopic",
    "badKey": "raises InvalidProviderToken",
}

provider.run(Client, EXPECTED)
