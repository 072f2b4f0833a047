internal import CPushLibevent
internal import Glibc

enum DetachedThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a thread of its own. Nil when that started. `name` is cut to the 15 bytes Linux keeps.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) -> ReactorError? {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let context = Unmanaged.passRetained(Body(body)).toOpaque()
        var thread = pthread_t()
        let code = pthread_create(&thread, &attributes, threadStarted, context)
        if code != 0 {
            Unmanaged<Body>.fromOpaque(context).release()
            return ReactorError(operation: "start thread \(name)", errno: code)
        }
        return nil
    }

    fileprivate static func runBody(_ context: UnsafeMutableRawPointer) {
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
    }
}

private func threadStarted(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    DetachedThread.runBody(context!)
    return nil
}
