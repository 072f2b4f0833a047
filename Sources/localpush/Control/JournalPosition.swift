internal import PushJSON

/// Where in the journal a list of pushes ends.
enum JournalPosition {
    /// The last sequence number that a reply of `GET pushes` tells of, so that what follows is new.
    static func after(_ reply: JSONValue) -> Int? {
        let pushes = reply["pushes"]?.arrayValue ?? []
        let steps = pushes.flatMap { $0["lifeLine"]?.arrayValue ?? [] }
        return ([reply["next"]] + steps.map { $0["seq"] }).compactMap { $0?.intValue }.max()
    }
}
