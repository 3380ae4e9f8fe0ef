#include "cli/internal/envtest/etcd_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "cli/internal/envtest/kube_apiserver_flags.h"

namespace muster::cli {

namespace {

struct EtcdFlag {
    std::string_view name;
    GoFlagKind kind = GoFlagKind::kText;
    std::string_view text = {};  ///< what it does; empty: it is without effect
};

constexpr std::string_view kDataDirFlag = "data-dir";
constexpr std::string_view kListenFlag = "listen-client-urls";
constexpr std::string_view kNoSyncFlag = "unsafe-no-fsync";

/// Those of etcd 3.4 to 3.6.
std::span<const EtcdFlag> etcd_flag_table() {
    using enum GoFlagKind;
    static constexpr EtcdFlag kFlags[] = {
        {"data-dir", kText, "where the objects are kept (default: NAME.etcd)"},
        {"listen-client-urls", kText,
         "where kube-apiserver finds it: http://ADDRESS:PORT (default: port 2379)"},
        {"name", kText, "names the default of --data-dir (default: default)"},
        {"unsafe-no-fsync", kSwitch, "what is stored may be lost with the machine's power"},
        {"version", kSwitch, "print the version"},
        {"advertise-client-urls"},
        {"auth-token"},
        {"auth-token-ttl", kNumber},
        {"auto-compaction-mode"},
        {"auto-compaction-retention"},
        {"auto-tls", kSwitch},
        {"backend-batch-interval"},
        {"backend-batch-limit", kNumber},
        {"backend-bbolt-freelist-type"},
        {"bcrypt-cost", kNumber},
        {"cert-file"},
        {"cipher-suites"},
        {"client-cert-allowed-hostname"},
        {"client-cert-auth", kSwitch},
        {"client-crl-file"},
        {"config-file"},
        {"cors"},
        {"debug", kSwitch},
        {"discovery"},
        {"discovery-fallback"},
        {"discovery-proxy"},
        {"discovery-srv"},
        {"discovery-srv-name"},
        {"election-timeout", kNumber},
        {"enable-log-rotation", kSwitch},
        {"enable-pprof", kSwitch},
        {"enable-v2", kSwitch},
        {"experimental-backend-bbolt-freelist-type"},
        {"experimental-compaction-batch-limit", kNumber},
        {"experimental-corrupt-check-time"},
        {"experimental-enable-lease-checkpoint", kSwitch},
        {"experimental-enable-v2v3"},
        {"experimental-initial-corrupt-check", kSwitch},
        {"experimental-peer-skip-client-san-verification", kSwitch},
        {"experimental-warning-apply-duration"},
        {"experimental-watch-progress-notify-interval"},
        {"force-new-cluster", kSwitch},
        {"grpc-keepalive-interval"},
        {"grpc-keepalive-min-time"},
        {"grpc-keepalive-timeout"},
        {"heartbeat-interval", kNumber},
        {"host-whitelist"},
        {"initial-advertise-peer-urls"},
        {"initial-cluster"},
        {"initial-cluster-state"},
        {"initial-cluster-token"},
        {"initial-election-tick-advance", kSwitch},
        {"key-file"},
        {"listen-client-http-urls"},
        {"listen-metrics-urls"},
        {"listen-peer-urls"},
        {"log-format"},
        {"log-level"},
        {"log-outputs"},
        {"log-package-levels"},
        {"log-rotation-config-json"},
        {"logger"},
        {"max-concurrent-streams", kNumber},
        {"max-request-bytes", kNumber},
        {"max-snapshots", kNumber},
        {"max-txn-ops", kNumber},
        {"max-wals", kNumber},
        {"metrics"},
        {"peer-auto-tls", kSwitch},
        {"peer-cert-allowed-cn"},
        {"peer-cert-allowed-hostname"},
        {"peer-cert-file"},
        {"peer-client-cert-auth", kSwitch},
        {"peer-crl-file"},
        {"peer-key-file"},
        {"peer-skip-client-san-verification", kSwitch},
        {"peer-trusted-ca-file"},
        {"pre-vote", kSwitch},
        {"proxy"},
        {"proxy-dial-timeout", kNumber},
        {"proxy-failure-wait", kNumber},
        {"proxy-read-timeout", kNumber},
        {"proxy-refresh-interval", kNumber},
        {"proxy-write-timeout", kNumber},
        {"quota-backend-bytes", kNumber},
        {"self-signed-cert-validity", kNumber},
        {"snapshot-count", kNumber},
        {"socket-reuse-address", kSwitch},
        {"socket-reuse-port", kSwitch},
        {"strict-reconfig-check", kSwitch},
        {"tls-max-version"},
        {"tls-min-version"},
        {"trusted-ca-file"},
        {"v2-deprecation"},
        {"wal-dir"},
    };
    return kFlags;
}

/// What no one misses: this is one server, which has no peers.
constexpr std::string_view kNotMissed[] = {"advertise-client-urls",
                                           "initial-advertise-peer-urls",
                                           "initial-cluster",
                                           "initial-cluster-state",
                                           "initial-cluster-token",
                                           "listen-peer-urls",
                                           "log-level",
                                           "log-outputs",
                                           "logger",
                                           "max-request-bytes",
                                           "quota-backend-bytes",
                                           "snapshot-count"};

}  // namespace

std::vector<GoFlag> etcd_flags() {
    std::vector<GoFlag> flags;
    for (const EtcdFlag& flag : etcd_flag_table()) flags.push_back({flag.name, flag.kind});
    return flags;
}

Result<EtcdOptions> read_etcd_flags(const GivenFlags& given) {
    EtcdOptions options;
    std::vector<std::string> urls = given.list(kListenFlag);
    if (urls.empty()) urls = {"http://localhost:2379"};
    for (const std::string& url : urls) {
        const auto address = parse_http_url(url);
        if (!address)
            return Error(Code::kInvalid,
                         fmt::format("--{} wants http://ADDRESS:PORT, not \"{}\"; there is no TLS "
                                     "here, and only kube-apiserver of this program is served",
                                     kListenFlag, url));
        options.listen.push_back(*address);
    }
    options.data_dir = given.text(kDataDirFlag, given.text("name", "default") + ".etcd");
    if (options.data_dir.empty())
        return Error(Code::kInvalid, fmt::format("--{} wants a directory", kDataDirFlag));
    options.sync = !given.on(kNoSyncFlag);
    for (const EtcdFlag& flag : etcd_flag_table())
        if (flag.text.empty() && given.has(flag.name) &&
            std::ranges::find(kNotMissed, flag.name) == std::end(kNotMissed))
            options.without_effect.push_back(
                fmt::format("--{}={}", flag.name, given.text(flag.name)));
    return options;
}

std::string etcd_help() {
    std::string text =
        R"(Where the objects of 'kube-apiserver' of this program lie, with the flags of etcd: for envtest, which starts this program
in the place of etcd. It serves no keys and values. 'muster envtest --help' has more.

Usage:
  etcd [flags]

Flags:
)";
    for (const EtcdFlag& flag : etcd_flag_table())
        if (!flag.text.empty()) text += fmt::format("  --{:<22} {}\n", flag.name, flag.text);
    text += "\nAccepted, and without effect:\n";
    for (const EtcdFlag& flag : etcd_flag_table())
        if (flag.text.empty()) text += fmt::format("  --{}\n", flag.name);
    return text;
}

}  // namespace muster::cli
