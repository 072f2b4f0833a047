"""django-push-notifications with its asynchronous APNs backend (on aioapns 3): devices as rows of a database."""

import logging
import uuid

import provider
import support

try:
    import django
    from aioapns.connection import APNsDevelopmentClientProtocol
    from django.conf import settings
except ImportError as error:
    support.skip("django-push-notifications as provider", f"a library cannot be imported ({error})")

settings.configure(
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "push_notifications"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "file:interop?mode=memory&cache=shared"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    PUSH_NOTIFICATIONS_SETTINGS={"CONFIG": "push_notifications.conf.AppConfig", "APPLICATIONS": {}},
    USE_TZ=True,
)
django.setup()

from django.core.management import call_command  # noqa: E402  # only after the set-up
from push_notifications.conf import get_manager  # noqa: E402
from push_notifications.exceptions import NotificationError  # noqa: E402
from push_notifications.models import APNSDevice  # noqa: E402

logging.disable(logging.CRITICAL)


class Client:
    """Neither setting nor parameter names host and port; aioapns has them as attributes of its protocol class."""

    name = "django-push-notifications"

    def __init__(self, server, key):
        APNsDevelopmentClientProtocol.APNS_SERVER, APNsDevelopmentClientProtocol.APNS_PORT = server.apns
        self.key = key
        call_command("migrate", verbosity=0)

    def send(self, token, topic, text):
        application = str(uuid.uuid4())
        settings.PUSH_NOTIFICATIONS_SETTINGS["APPLICATIONS"] = {
            application: {
                "PLATFORM": "APNS", "AUTH_KEY_PATH": self.key.path, "AUTH_KEY_ID": self.key.id,
                "TEAM_ID": self.key.team, "TOPIC": topic, "USE_SANDBOX": True,
            }
        }  # fmt: skip
        get_manager(reload=True)
        APNSDevice.objects.filter(registration_id=token).delete()
        device = APNSDevice.objects.create(registration_id=token, application_id=application)
        seen = []

        async def note(_, result):
            seen.append(result.timestamp)

        try:
            device.send_message(text, extra={"marker": text}, err_func=note)
            words = "returns"
        except NotificationError as error:
            words = f"raises {type(error).__name__}, {error.message.rpartition(' ')[2]}"
        device.refresh_from_db()
        return provider.Said(words + ("" if device.active else ", row inactive"), seen[0] if seen else None)

    def close(self):
        pass


EXPECTED = {
    "good": "returns",
    "stray": "raises APNSError, BadDeviceToken, row inactive",
    "gone": "raises APNSError, Unregistered, row inactive",
    "disallowed": "raises APNSError, TopicDisallowed",
    "mismatched": "raises APNSError, DeviceTokenNotForTopic, row inactive",
    "badKey": "raises APNSError, InvalidProviderToken",
}

provider.run(Client, EXPECTED)
