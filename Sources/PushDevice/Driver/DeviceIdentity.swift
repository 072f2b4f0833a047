internal import PushBytes
package import PushCourier
package import PushCrypto

/// Who a device is: a key and a certificate that it signs itself. The server derives the base token from it.
///
/// Many simulated devices may share one key, which takes long to make, with a certificate each.
package struct DeviceIdentity: Sendable {
    package let key: RSAPrivateKey
    package let certificate: Certificate

    package init(key: RSAPrivateKey, certificate: Certificate) {
        self.key = key
        self.certificate = certificate
    }

    /// Signs a certificate for `name`, valid from yesterday for ten years.
    package init(name: String, key: RSAPrivateKey, serial: [UInt8], unixSeconds: Int64) throws {
        self.key = key
        // A serial number is positive.
        let positive = serial.enumerated().map { $0.offset == 0 ? $0.element & 0x7F | 0x01 : $0.element }
        certificate = try CertificateMaker.selfSigned(
            commonName: name, key: key, serial: positive, notBefore: unixSeconds - 86_400,
            notAfter: unixSeconds + 3650 * 86_400)
    }

    /// The first frame, with the proof that we hold the key: a signature over the time and random bytes.
    package func connectFrame(
        baseToken: [UInt8]?, clockMilliseconds: Int64, random: [UInt8]
    ) throws -> CourierConnect {
        precondition(random.count == 8, "a nonce has eight random bytes")
        var nonce: [UInt8] = [0x00]
        for shift in stride(from: 56, through: 0, by: -8) {
            nonce.append(UInt8(truncatingIfNeeded: clockMilliseconds >> Int64(shift)))
        }
        nonce += random
        var frame = CourierConnect()
        frame.baseToken = baseToken
        frame.state = 1
        frame.presenceFlags = 0x41
        frame.certificate = certificate.der
        frame.nonce = nonce
        frame.signature = [0x01, 0x01] + (try key.signSHA1(nonce))
        frame.protocolVersion = 11
        return frame
    }
}
