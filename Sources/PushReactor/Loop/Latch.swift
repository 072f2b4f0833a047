internal import CPushLibevent
internal import Glibc

/// Closed at first; whoever waits passes once it is open.
final class Latch: @unchecked Sendable {
    // A POSIX semaphore is made for being shared between threads; its address is fixed for its life.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() {
        let code = sem_init(semaphore, 0, 0)
        precondition(code == 0, "a semaphore starts at zero")
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func open() { sem_post(semaphore) }

    func wait() {
        while sem_wait(semaphore) != 0 {
            precondition(errno == EINTR, "only a signal interrupts waiting")
        }
        sem_post(semaphore)
    }
}
