package import PushJSON

extension LocalPushReady {
    package var json: JSONValue {
        [
            "ready": true, "pid": .int(LocalPushVersion.processID), "apns": .string(apns), "courier": .string(courier),
            "broadcast": [
                "sandbox": .string(sandboxBroadcast), "production": .string(productionBroadcast),
            ],
            "http": .string(http), "https": .string(https), "ca": .string(authorityPath),
            "key": ["id": .string(keyID), "team": .string(team), "path": .string(keyPath)],
            "version": .string(LocalPushVersion.number),
        ]
    }
}
