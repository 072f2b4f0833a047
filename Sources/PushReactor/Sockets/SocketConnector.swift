internal import CPushLibevent
internal import Glibc

/// Makes the connection of one `Socket`: resolves the name, then tries the addresses one after the other.
final class SocketConnector {
    private unowned let socket: Socket
    private let host: String
    private let port: UInt16
    private var addresses: [SocketAddress] = []
    private var nextAddress = 0
    private var fd: Int32 = -1
    private var event: OpaquePointer?
    private var lastError: ReactorError?

    init(socket: Socket, host: String, port: UInt16) {
        self.socket = socket
        self.host = host
        self.port = port
    }

    deinit {
        cancel()
    }

    func start() {
        if let numeric = try? SocketAddress.resolve(host: host, port: port, numericOnly: true) {
            resolved(.success(numeric))
        } else {
            socket.loop.resolve(host: host, port: port) { [weak self] in self?.resolved($0) }
        }
    }

    /// Stops trying; the socket hears nothing more.
    func cancel() {
        if let event { event_free(event) }
        event = nil
        if fd >= 0 { close(fd) }
        fd = -1
        addresses = []
    }

    private func resolved(_ result: Result<[SocketAddress], ReactorError>) {
        if !socket.isConnecting { return }
        switch result {
        case .success(let found):
            addresses = found
            tryNext()
        case .failure(let error):
            socket.connectFailed(error)
        }
    }

    private func tryNext() {
        while nextAddress < addresses.count {
            let address = addresses[nextAddress]
            nextAddress += 1
            fd = Glibc.socket(
                address.family, push_sock_loop(), 0)
            if fd < 0 {
                note(errno)
                continue
            }
            let fd = fd
            let result = address.with { connect(fd, $0, $1) }
            if result == 0 || errno == EINPROGRESS { return waitForConnection() }
            note(errno)
            dropAttempt()
        }
        socket.connectFailed(lastError ?? error(EADDRNOTAVAIL))
    }

    private func waitForConnection() {
        let me = Unmanaged.passUnretained(self).toOpaque()
        event = event_new(socket.loop.eventBase, fd, Int16(EV_WRITE), connectorWritable, me)
        precondition(event != nil, "an event fits into memory")
        event_add(event, nil)
    }

    fileprivate func writable() {
        socket.loop.noteAwake()
        if !socket.isConnecting { return }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        if getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length) != 0 { code = errno }
        if code != 0 {
            note(code)
            dropAttempt()
            tryNext()
            return
        }
        let connected = fd
        event_free(event)
        event = nil
        fd = -1
        socket.connected(connected)
    }

    private func dropAttempt() {
        if let event { event_free(event) }
        event = nil
        close(fd)
        fd = -1
    }

    private func note(_ code: Int32) { lastError = error(code) }

    private func error(_ code: Int32) -> ReactorError {
        ReactorError(operation: "connect to \(HostPort.text(host: host, port: port))", errno: code)
    }
}

// The context is the connector, kept for the length of the call: connecting makes its socket let go of it.
private func connectorWritable(_ fd: Int32, _ what: Int16, _ context: UnsafeMutableRawPointer?) {
    let connector = Unmanaged<SocketConnector>.fromOpaque(context!).takeUnretainedValue()
    withExtendedLifetime(connector) { connector.writable() }
}
