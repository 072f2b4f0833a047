// swift-tools-version: 6.2
import PackageDescription

// Targets stand low to high; a target may depend only on targets above it in this list, and siblings do not
// see each other. All names carry a prefix, since target names must be unique in the whole package graph of
// whoever depends on us (`Crypto` or `CSQLite` would clash with packages that many servers already use).

let upcoming: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
/// Targets that touch no C: strict memory safety proves it.
let pure: [SwiftSetting] = upcoming + [.strictMemorySafety()]
/// Targets that wrap one C library each. There every second line would say `unsafe`, and hide the rest.
let wrapper: [SwiftSetting] = upcoming

func debian(_ packages: String...) -> [SystemPackageProvider] { [.apt(packages)] }

let package = Package(
    name: "LocalPush",
    products: [
        .library(name: "LocalPush", targets: ["PushServer"]),
        .library(name: "PushDevice", targets: ["PushDevice"]),
        .library(name: "PushProvider", targets: ["PushProvider"]),
        .executable(name: "localpush", targets: ["localpush"]),
    ],
    targets: [
        // L0: C libraries, a module map and a shim each.
        .systemLibrary(name: "CPushLibevent", pkgConfig: "libevent", providers: debian("libevent-dev")),
        .systemLibrary(name: "CPushOpenSSL", pkgConfig: "openssl", providers: debian("libssl-dev")),
        .systemLibrary(name: "CPushNGHTTP2", pkgConfig: "libnghttp2", providers: debian("libnghttp2-dev")),
        .systemLibrary(name: "CPushSQLite", pkgConfig: "sqlite3", providers: debian("libsqlite3-dev")),
        .target(name: "CPushSimdJSON", linkerSettings: [.linkedLibrary("simdjson")]),

        // L1
        .target(name: "PushBytes", swiftSettings: wrapper),

        // L2
        .target(name: "PushJSON", dependencies: ["PushBytes", "CPushSimdJSON"], swiftSettings: wrapper),
        .target(name: "PushCrypto", dependencies: ["PushBytes", "CPushOpenSSL"], swiftSettings: wrapper),
        .target(name: "PushTLS", dependencies: ["PushBytes", "CPushOpenSSL"], swiftSettings: wrapper),
        .target(name: "PushHTTP2", dependencies: ["PushBytes", "CPushNGHTTP2"], swiftSettings: wrapper),
        .target(name: "PushReactor", dependencies: ["PushBytes", "CPushLibevent"], swiftSettings: wrapper),
        .target(name: "PushSQLite", dependencies: ["PushBytes", "CPushSQLite"], swiftSettings: wrapper),

        // L3
        .target(
            name: "PushHTTP1", dependencies: ["PushBytes", "PushReactor", "PushTLS", "CPushLibevent"],
            swiftSettings: wrapper),
        .target(name: "PushCore", dependencies: ["PushBytes", "PushJSON", "PushCrypto"], swiftSettings: pure),

        // L4
        .target(name: "PushCourier", dependencies: ["PushBytes"], swiftSettings: pure),
        .target(
            name: "PushStore", dependencies: ["PushBytes", "PushCrypto", "PushSQLite", "PushCore"], swiftSettings: pure),

        // L5
        .target(
            name: "PushServer",
            dependencies: [
                "PushBytes", "PushJSON", "PushCrypto", "PushTLS", "PushHTTP2", "PushReactor", "PushSQLite", "PushHTTP1",
                "PushCore",
                "PushCourier", "PushStore",
            ], swiftSettings: pure),
        .target(
            name: "PushProvider",
            dependencies: ["PushBytes", "PushJSON", "PushCrypto", "PushTLS", "PushHTTP2", "PushReactor"],
            swiftSettings: pure),
        .target(
            name: "PushDevice",
            dependencies: [
                "PushBytes", "PushJSON", "PushCrypto", "PushTLS", "PushReactor", "PushSQLite", "PushCourier",
            ], swiftSettings: pure),

        // L6
        .executableTarget(
            name: "localpush",
            dependencies: [
                "PushBytes", "PushJSON", "PushCrypto", "PushTLS", "PushReactor", "PushHTTP1", "PushCore", "PushServer",
                "PushProvider", "PushDevice",
            ], swiftSettings: pure),

        // Tests mirror the targets.
        .testTarget(name: "PushBytesTests", dependencies: ["PushBytes"], swiftSettings: upcoming),
        .testTarget(name: "PushJSONTests", dependencies: ["PushJSON", "PushBytes"], swiftSettings: upcoming),
        .testTarget(name: "PushCryptoTests", dependencies: ["PushCrypto", "PushBytes"], swiftSettings: upcoming),
        .testTarget(
            name: "PushTLSTests", dependencies: ["PushTLS", "PushCrypto", "PushBytes"], swiftSettings: upcoming),
        .testTarget(name: "PushHTTP2Tests", dependencies: ["PushHTTP2", "PushBytes"], swiftSettings: upcoming),
        .testTarget(name: "PushReactorTests", dependencies: ["PushReactor", "PushBytes"], swiftSettings: upcoming),
        .testTarget(name: "PushSQLiteTests", dependencies: ["PushSQLite", "PushBytes"], swiftSettings: upcoming),
        .testTarget(
            name: "PushHTTP1Tests", dependencies: ["PushHTTP1", "PushReactor", "PushTLS", "PushCrypto", "PushBytes"],
            swiftSettings: upcoming),
        .testTarget(
            name: "PushCoreTests", dependencies: ["PushCore", "PushJSON", "PushCrypto", "PushBytes"],
            swiftSettings: upcoming),
        .testTarget(name: "PushCourierTests", dependencies: ["PushCourier", "PushBytes"], swiftSettings: upcoming),
        .testTarget(
            name: "PushStoreTests", dependencies: ["PushStore", "PushSQLite", "PushCore", "PushBytes"],
            swiftSettings: upcoming),
        .testTarget(
            name: "PushDeviceTests",
            dependencies: [
                "PushDevice", "PushCourier", "PushSQLite", "PushReactor", "PushTLS", "PushCrypto", "PushBytes",
            ], swiftSettings: upcoming),
        .testTarget(
            name: "PushServerTests",
            dependencies: [
                "PushServer", "PushProvider", "PushDevice", "PushCore", "PushStore", "PushCourier", "PushHTTP2",
                "PushTLS",
                "PushReactor", "PushHTTP1", "PushJSON", "PushCrypto", "PushSQLite", "PushBytes",
            ], swiftSettings: upcoming),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "localpush", "PushDevice", "PushStore", "PushCourier", "PushHTTP2", "PushTLS", "PushCrypto", "PushCore",
                "PushBytes",
            ], swiftSettings: upcoming),
        .testTarget(name: "TidyTests", swiftSettings: upcoming),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
