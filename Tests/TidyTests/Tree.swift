import Foundation

/// One file of the repository.
struct RepositoryFile {
    /// From the root of the repository, with `/` between the parts.
    let path: String
    let bytes: Int
    let isExecutable: Bool
    /// `nil` when the file is not text.
    let text: String?

    init(path: String, text: String, isExecutable: Bool = false) {
        self.path = path
        self.text = text
        self.bytes = text.utf8.count
        self.isExecutable = isExecutable
    }

    init(root: URL, path: String) throws {
        let url = root.appending(path: path)
        let data = try Data(contentsOf: url)
        self.path = path
        self.bytes = data.count
        self.isExecutable = FileManager.default.isExecutableFile(atPath: url.path)
        self.text = data.contains(0) ? nil : String(validating: data, as: UTF8.self)
    }

    var lines: [Substring] { (text ?? "").split(separator: "\n", omittingEmptySubsequences: false) }
    var name: String { String(path.split(separator: "/").last ?? "") }
    /// The folders above the file, with a `/` at the end; empty for a file in the root.
    var folder: String { String(path.dropLast(name.count)) }
    var fileExtension: String { name.contains(".") ? String(name.split(separator: ".").last ?? "") : "" }
    /// The target a file below `Sources/` belongs to.
    var target: String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
    }
}

/// The repository as it lies on the disk, without what building and running leave in it.
struct Tree {
    static let left: Set<String> = [
        ".git", ".build", ".venv", ".localpush", ".swiftpm", ".vscode", "__pycache__", "node_modules",
    ]

    let files: [RepositoryFile]
    let paths: Set<String>

    /// The tree this source file lies in, read once.
    static let here = Result {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        return try Tree(root: root)
    }

    init(root: URL) throws {
        var files: [RepositoryFile] = []
        var folders: Set<String> = []
        var waiting = [""]
        while let folder = waiting.popLast() {
            for name in try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            where !Self.left.contains(name) {
                let path = folder + name
                var isFolder: ObjCBool = false
                guard FileManager.default.fileExists(atPath: root.appending(path: path).path, isDirectory: &isFolder)
                else { continue }
                if isFolder.boolValue {
                    folders.insert(path)
                    waiting.append(path + "/")
                } else {
                    files.append(try RepositoryFile(root: root, path: path))
                }
            }
        }
        self.init(files: files, folders: folders)
    }

    init(files: [RepositoryFile], folders: Set<String> = []) {
        self.files = files.sorted { $0.path < $1.path }
        self.paths = folders.union(files.map(\.path))
    }

    func file(_ path: String) -> RepositoryFile? { files.first { $0.path == path } }
}
