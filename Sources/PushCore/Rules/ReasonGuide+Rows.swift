// The rows, in groups by what they complain of. Facts: Apple, "Handling notification responses from APNs" and "Handling
// error responses from APNs"; what was only seen on the real service says so.

extension ReasonGuide {
    /// The request itself: path, headers, body.
    static let request: [ReasonGuide] = [
        ReasonGuide(
            word: "BadCollapseId", status: 400, surfaces: .device,
            meaning: "The apns-collapse-id is longer than 64 bytes.",
            here: "The value has more than 64 bytes in UTF-8; letters beyond ASCII count two to four.",
            remedy: "Shorten it, or send a hash of it.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "BadExpirationDate", status: 400, surfaces: .both,
            meaning: "The apns-expiration is not a time in whole UNIX seconds.",
            here: "The value is anything but a whole number, such as 1518080000.5; or a broadcast to a channel that "
                + "stores nothing asks to be stored.",
            remedy: "Round it; send 0 for one attempt, and to a channel that stores nothing.",
            retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "BadMessageId", status: 400, surfaces: .both,
            meaning: "The apns-id (apns-request-id for broadcasts) is not a UUID.",
            here: "The value is not of the form 8-4-4-4-12; both letter cases pass.",
            remedy: "Send a UUID, or leave the header out and read the one in the answer.",
            retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "BadPriority", status: 400, surfaces: .both,
            meaning: "The apns-priority is not 10, 5 or 1, or does not go with the push type.",
            here: "The value is another one, or a background push asks for 10; that the latter gets this reason is "
                + "our choice.",
            remedy: "Send 10, 5 or 1, and 5 for background pushes.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "DuplicateHeaders", status: 400, surfaces: .device,
            meaning: "A header was sent more than once.",
            here: "Any apns- header or authorization stands twice; which headers count is our choice.",
            remedy: "Look for a client and a middleware that both add it.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "InvalidPushType", status: 400, surfaces: .both,
            meaning: "The apns-push-type is unknown, or contradicts the ending of apns-topic.",
            here: "The value is none of the eleven, or its ending is not the topic's (.voip with alert); leaving the "
                + "header out passes. For a channel the type must be LiveActivity.",
            remedy: "Take the type that belongs to the topic.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "MissingDeviceToken", status: 400, surfaces: .device,
            meaning: "The path holds no device token.",
            here: "The path is /3/device or /3/device/.",
            remedy: "Look for an empty token in your database.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "PayloadEmpty", status: 400, surfaces: .both,
            meaning: "The request has no payload.",
            here: "The body is empty; that a body which is not JSON is refused with this too is our choice.",
            remedy: "Send a JSON dictionary, at least {\"aps\":{}}.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "PayloadTooLarge", status: 413, surfaces: .both,
            meaning: "The payload has more bytes than allowed.",
            here: "The body has more than 4096 bytes, or 5120 for voip and broadcasts; exactly that many pass.",
            remedy: "Send a reference and let the app fetch the rest.", retry: .never, source: .apple),
        ReasonGuide(
            word: "BadPath", status: 404, surfaces: .both,
            meaning: "There is nothing under that path.",
            here: "The path is not /3/device/TOKEN (or one of the channel API with its method).",
            remedy: "Compare the path with the documentation of the API.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "MethodNotAllowed", status: 405, surfaces: .both,
            meaning: "The method is not one the path takes.",
            here: "A push comes with another method than POST.",
            remedy: "Send pushes with POST.", retry: .afterFix, source: .apple),
    ]

    /// Who sends, and to which app.
    static let authentication: [ReasonGuide] = [
        ReasonGuide(
            word: "MissingTopic", status: 400, surfaces: .device,
            meaning: "The apns-topic is missing, and nothing else says which app is meant.",
            here: "The header is absent, except where a client certificate is for one app only.",
            remedy: "Send the bundle id, with the ending of the push type.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "BadTopic", status: 400, surfaces: .device,
            meaning: "The apns-topic cannot be a topic.",
            here: "The value is empty, longer than 255 bytes, or has characters that no bundle id has.",
            remedy: "Send the bundle id, with the ending of the push type.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "TopicDisallowed", status: 400, surfaces: .both,
            meaning: "The sender may not push to this app.",
            here: "The app belongs to another team than the provider token, or is not in the client certificate; or "
                + "the path of a broadcast has an ending after the bundle id.",
            remedy: "Compare team, key and bundle id; a topic is written exactly as the bundle id.",
            retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "TopicMismatch", status: 403, surfaces: .broadcast,
            meaning: "The bundle id in the path is not among those of the key or certificate.",
            here: "The app of a broadcast or channel belongs to another team, or the key is for other topics.",
            remedy: "Use a key of the app's team.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "MissingProviderToken", status: 403, surfaces: .both,
            meaning: "The request has neither a provider token nor a client certificate behind it.",
            here: "There is no authorization header with a bearer token.",
            remedy: "Send authorization: bearer and the token.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "InvalidProviderToken", status: 403, surfaces: .both,
            meaning: "The provider token cannot be read, or its signature is wrong.",
            here: "The token is malformed, its key (kid) is unknown, its team (iss) is not the key's, or its signature "
                + "fails; a second team on one connection gets it too, which is our choice.",
            remedy: "Check key file, key id and team id; GET keys of the control API lists what is known here.",
            retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "ExpiredProviderToken", status: 403, surfaces: .both,
            meaning: "The provider token was issued more than an hour ago.",
            here: "The iat lies more than an hour from the server's clock; refusing one from the future with this "
                + "reason is our choice.",
            remedy: "Make a new one every 20 to 60 minutes, and check the clock.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "BadEnvironmentKeyIdInToken", status: 403, surfaces: .device,
            meaning: "The signing key is for the other environment.",
            here: "The key was registered for one environment and the push came to the other; the real service was "
                + "also seen to write BadEnvironmentKeyInToken.",
            remedy: "Use a key of this environment, or one for both.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "UnrelatedKeyIdInToken", status: 403, surfaces: .device,
            meaning: "The signing key has nothing to do with the key of the connection's first push.",
            here: "A connection changes from its first key to one it may not change to.",
            remedy: "Open a connection for each key.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "TooManyProviderTokenUpdates", status: 429, surfaces: .both,
            meaning: "The provider token changes more often than every 20 minutes.",
            here: "A connection brings another token within 20 minutes of the last change, where the profile says so.",
            remedy: "Sign one token, share it between workers, and keep it for 20 to 60 minutes.",
            retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "BadCertificate", status: 403, surfaces: .both,
            meaning: "The client certificate is no push certificate.",
            here: "The certificate does not name an app, or cannot be used.",
            remedy: "Make a new certificate with 'localpush certs client'.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "BadCertificateEnvironment", status: 403, surfaces: .both,
            meaning: "The client certificate is for the other environment.",
            here: "A certificate is for one environment and came to the other; as the real service was seen to do, "
                + "the word comes in a GOAWAY and no request is answered.",
            remedy: "Use the certificate of this environment.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "Forbidden", status: 403, surfaces: .device,
            meaning: "The sender may not do this.",
            here: "Only when a fault asks for it: what makes Apple say so is not known.",
            remedy: "Check the rights of key and team.", retry: .never, source: .apple),
    ]

    /// The device at the other end.
    static let device: [ReasonGuide] = [
        ReasonGuide(
            word: "BadDeviceToken", status: 400, surfaces: .device,
            meaning: "The device token is malformed, or belongs to the other environment.",
            here: "The token is not 64 to 200 hex digits, or no device here has it in this environment.",
            remedy: "Check sandbox against production first, then drop the token.", retry: .never, source: .apple),
        ReasonGuide(
            word: "DeviceTokenNotForTopic", status: 400, surfaces: .device,
            meaning: "The device token was issued for another app.",
            here: "The token is of a registration whose app is not the one in apns-topic.",
            remedy: "Store the app with each token.", retry: .never, source: .apple),
        ReasonGuide(
            word: "Unregistered", status: 410, surfaces: .device,
            meaning: "The app is no longer registered on that device; timestamp says since when, in milliseconds.",
            here: "The registration was ended, by the device or with 'localpush devices unregister'.",
            remedy: "Drop the token, unless the app registered it again after the timestamp.",
            retry: .never, source: .apple),
        ReasonGuide(
            word: "ExpiredToken", status: 410, surfaces: .device,
            meaning: "The device token has run out, as those of Live Activities do; timestamp says when.",
            here: "The token has an expiry that has passed, or a fault asks for it.",
            remedy: "Drop the token and take the one the app brings next.", retry: .never, source: .apple),
        ReasonGuide(
            word: "TooManyRequests", status: 429, surfaces: .both,
            meaning: "Too many pushes in a row went to the same device.",
            here: "A device gets more than the profile allows; Apple's number is not known, so ours is a choice.",
            remedy: "Collapse pushes, or spread them.", retry: .afterDelay, source: .apple),
    ]

    /// Broadcasts and channels.
    static let channels: [ReasonGuide] = [
        ReasonGuide(
            word: "FeatureNotEnabled", status: 400, surfaces: .broadcast,
            meaning: "Broadcasts are not switched on for the app.",
            here: "The app was registered without them.",
            remedy: "Switch broadcasts on for the app.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "MissingChannelId", status: 400, surfaces: .broadcast,
            meaning: "The apns-channel-id is missing.",
            here: "The header is absent where a channel has to be named.",
            remedy: "Send the id in the header, not in the path.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "BadChannelId", status: 400, surfaces: .broadcast,
            meaning: "The apns-channel-id is not base64, or too long.",
            here: "The value cannot be an id of ours.",
            remedy: "Send the id exactly as the answer to the creation gave it.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "ChannelNotRegistered", status: 400, surfaces: .broadcast,
            meaning: "There is no such channel.",
            here: "The channel was never made or was deleted, or belongs to the other environment (our choice).",
            remedy: "Make a new channel: a deleted id never comes back.", retry: .never, source: .apple),
        ReasonGuide(
            word: "BadRequestParams", status: 400, surfaces: .broadcast,
            meaning: "The JSON of the request has an attribute that is not known.",
            here: "The body of a channel's creation has another key than the two there are.",
            remedy: "Send message-storage-policy and push-type only.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "BadRequestPayload", status: 400, surfaces: .broadcast,
            meaning: "The JSON of the request cannot be parsed.",
            here: "The body is not JSON.",
            remedy: "Check the encoding of the body.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "MissingPushType", status: 400, surfaces: .broadcast,
            meaning: "The push type is missing.",
            here: "A broadcast has no apns-push-type, or a channel's creation no push-type.",
            remedy: "Send liveactivity.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "CannotCreateChannelConfig", status: 400, surfaces: .broadcast,
            meaning: "The app has as many channels as it may have.",
            here: "The app has 10,000 channels in this environment.",
            remedy: "Delete channels that are no longer used.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "MissingChannelQueueSize", status: 400, surfaces: .broadcast,
            meaning: "The message-storage-policy is missing or wrong.",
            here: "A channel's creation has no policy, or another than 0 and 1.",
            remedy: "Send 0 (store nothing) or 1 (store the newest).", retry: .afterFix, source: .observed),
    ]

    /// The service itself.
    static let service: [ReasonGuide] = [
        ReasonGuide(
            word: "IdleTimeout", status: 400, surfaces: .device,
            meaning: "The connection was idle for too long.",
            here: "A connection without requests is closed after its idle time with this word in the GOAWAY; that no "
                + "answer carries it is our choice.",
            remedy: "Open a new connection, or ping once an hour.", retry: .afterFix, source: .apple),
        ReasonGuide(
            word: "InternalServerError", status: 500, surfaces: .both,
            meaning: "The service failed.",
            here: "Only when a fault asks for it.",
            remedy: "Wait, and open a new connection.", retry: .afterBackoff, source: .apple),
        ReasonGuide(
            word: "ServiceUnavailable", status: 503, surfaces: .both,
            meaning: "The service cannot take pushes now.",
            here: "The store could not be written (is the disk full?), or a fault asks for it.",
            remedy: "Wait; for the channel API Apple's table writes the word with a blank, so accept both.",
            retry: .afterBackoff, source: .apple),
        ReasonGuide(
            word: "Shutdown", status: 503, surfaces: .both,
            meaning: "The server is going down.",
            here: "A push arrives while the server stops.",
            remedy: "Send again over a new connection.", retry: .afterBackoff, source: .apple),
    ]
}
