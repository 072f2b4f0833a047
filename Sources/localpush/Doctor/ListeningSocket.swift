/// One line of `/proc/net/tcp` or `tcp6` that listens.
struct ListeningSocket: Equatable {
    let port: UInt16
    /// How the process that holds it names it in `/proc/PID/fd`.
    let inode: String

    /// All listening sockets of such a table. Lines that cannot be read are passed over.
    static func parse(_ table: String) -> [ListeningSocket] {
        table.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            // slot, local address, remote address, state (0A: listens), queues, timer, retransmits, user, timeout, inode
            guard fields.count > 9, fields[3] == "0A", let colon = fields[1].lastIndex(of: ":"),
                let port = UInt16(fields[1][fields[1].index(after: colon)...], radix: 16)
            else { return nil }
            return ListeningSocket(port: port, inode: String(fields[9]))
        }
    }
}

/// A process that holds a port.
struct PortHolder: Equatable {
    let pid: Int
    let name: String
}
