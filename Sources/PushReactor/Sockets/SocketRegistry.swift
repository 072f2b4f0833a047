/// The sockets of a loop: all of them, those that want to send, and those to be told or freed.
///
/// The loop holds sockets here, so that libevent may hold their bare addresses.
final class SocketRegistry {
    /// How long a socket keeps the memory of an output it does not use: a busy one must not allocate every turn,
    /// an idle one must not hold what its last burst needed.
    static let warmMax = Duration.seconds(1)

    private var all: [Socket] = []
    private var dirty: [Socket] = []
    private var dirtySpare: [Socket] = []
    private var ended: [Socket] = []
    private var endedSpare: [Socket] = []
    private var warm: [Socket] = []

    var count: Int { all.count }
    var hasWork: Bool { !dirty.isEmpty || !ended.isEmpty }

    func add(_ socket: Socket) {
        socket.slot = all.count
        all.append(socket)
    }

    private func remove(_ socket: Socket) {
        let slot = socket.slot
        precondition(slot >= 0 && all[slot] === socket, "a socket knows its slot")
        let last = all.removeLast()
        if last !== socket {
            all[slot] = last
            last.slot = slot
        }
        socket.slot = -1
    }

    func addDirty(_ socket: Socket) { dirty.append(socket) }

    func addEnded(_ socket: Socket) { ended.append(socket) }

    /// Writes what each socket that asked for it has; who asks again meanwhile has its turn next.
    func flush() {
        if dirty.isEmpty { return }
        swap(&dirty, &dirtySpare)
        for index in dirtySpare.indices { dirtySpare[index].flush() }
        dirtySpare.removeAll(keepingCapacity: true)
    }

    /// Tells handlers of closed sockets and frees the dead; sockets closed by that have their turn next.
    func sweep() {
        if ended.isEmpty { return }
        swap(&ended, &endedSpare)
        for index in endedSpare.indices {
            let socket = endedSpare[index]
            if socket.release() { remove(socket) }
            socket.notifyClosed()
        }
        endedSpare.removeAll(keepingCapacity: true)
        // Closed sockets may linger in the list; with the last one gone nothing would keep it being looked at.
        if all.isEmpty { warm.removeAll() }
    }

    /// Whether some output holds memory, so that the loop must call `cool` now and then.
    var hasWarm: Bool { !warm.isEmpty }

    /// Notes a socket whose output holds memory.
    func addWarm(_ socket: Socket) { warm.append(socket) }

    /// Takes back the memory of outputs unused since the last call.
    func cool() {
        warm.removeAll { $0.cool() }
    }

    func resetAll() {
        for socket in all { socket.close(.reset) }
    }
}
