package import PushReactor

/// What the devices of one event loop share: one commit phase for all that changed in a turn.
///
/// Keep it as long as its devices live. Loop-bound.
package final class DeviceLoop {
    package let loop: EventLoop
    private var dirty: [DeviceConnection] = []
    private var committing: [DeviceConnection] = []

    package init(_ loop: EventLoop) {
        loop.preconditionOnLoop()
        self.loop = loop
        loop.beforeSleep(.commit) { [weak self] in self?.commit() }
    }

    func add(dirty connection: DeviceConnection) {
        dirty.append(connection)
    }

    private func commit() {
        if dirty.isEmpty { return }
        // Swapped, since a failed commit reports for the next turn.
        swap(&dirty, &committing)
        for connection in committing { connection.commit() }
        committing.removeAll(keepingCapacity: true)
    }
}
