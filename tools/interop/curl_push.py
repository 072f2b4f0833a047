"""curl as a provider, as in Apple's own example: the token is signed by the openssl tool, in DER form."""

import base64
import json
import os
import shutil
import subprocess
import time

import provider
import support

HOST = "api.sandbox.push.apple.com"

for tool in ("curl", "openssl"):
    if not shutil.which(tool):
        support.skip("curl as provider", f"{tool} is not installed")
if "HTTP2" not in subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True).stdout:
    support.skip("curl as provider", "this curl was built without HTTP/2")


class Client:
    """The URL is Apple's; `--connect-to` leads here, and `--cacert` names the authority."""

    name = "curl"

    def __init__(self, server, key):
        authority = os.environ.get("SSL_CERT_FILE")
        self.trust = ["--cacert", authority] if authority else []
        self.route = f"{HOST}:443:{server.apns[0]}:{server.apns[1]}"
        unsigned = b".".join(
            encode(json.dumps(part).encode())
            for part in ({"alg": "ES256", "kid": key.id}, {"iss": key.team, "iat": int(time.time())})
        )
        sign = ["openssl", "dgst", "-binary", "-sha256", "-sign", key.path]
        signature = subprocess.run(sign, input=unsigned, capture_output=True, check=True).stdout
        self.token = (unsigned + b"." + encode(signature)).decode()

    def send(self, token, topic, text):
        answer = subprocess.run(
            [
                "curl", *self.trust, "--http2", "--silent", "--show-error", "--max-time", "20", "--connect-to", self.route,
                "--header", f"authorization: bearer {self.token}", "--header", f"apns-topic: {topic}",
                "--header", "apns-push-type: alert", "--data-binary", "@-",
                "--write-out", "\n%{http_version} %{http_code}", f"https://{HOST}/3/device/{token}",
            ],
            input=provider.payload(text), capture_output=True, check=False,
        )  # fmt: skip
        if answer.returncode != 0:
            return provider.Said(f"ends with {answer.returncode}")
        body, _, status = answer.stdout.decode().rpartition("\n")
        reason = json.loads(body) if body else {}
        words = " ".join(filter(None, ["HTTP", status, reason.get("reason")]))
        return provider.Said(words, reason.get("timestamp"))

    def close(self):
        pass


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


EXPECTED = {
    "good": "HTTP 2 200",
    "stray": "HTTP 2 400 BadDeviceToken",
    "gone": "HTTP 2 410 Unregistered",
    "disallowed": "HTTP 2 400 TopicDisallowed",
    "mismatched": "HTTP 2 400 DeviceTokenNotForTopic",
    "badKey": "HTTP 2 403 InvalidProviderToken",
}

provider.run(Client, EXPECTED)
