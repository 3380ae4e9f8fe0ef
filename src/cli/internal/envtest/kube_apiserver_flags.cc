#include "cli/internal/envtest/kube_apiserver_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/parse_number.h"
#include "cli/internal/envtest/kube_apiserver_flag_table.h"

namespace muster::cli {

namespace {

constexpr std::string_view kKubeApiserverHelp =
    R"(The Kubernetes API as 'muster up --api-only' serves it, with the flags of kube-apiserver: for envtest, which starts this
program in the place of kube-apiserver. 'muster envtest --help' has more.

Usage:
  kube-apiserver [flags]

)";

constexpr std::string_view kAdmissionPlugins[] = {"AlwaysAdmit",
                                                  "AlwaysDeny",
                                                  "AlwaysPullImages",
                                                  "CertificateApproval",
                                                  "CertificateSigning",
                                                  "CertificateSubjectRestriction",
                                                  "ClusterTrustBundleAttest",
                                                  "DefaultIngressClass",
                                                  "DefaultStorageClass",
                                                  "DefaultTolerationSeconds",
                                                  "DenyServiceExternalIPs",
                                                  "EventRateLimit",
                                                  "ExtendedResourceToleration",
                                                  "ImagePolicyWebhook",
                                                  "LimitPodHardAntiAffinityTopology",
                                                  "LimitRanger",
                                                  "MutatingAdmissionPolicy",
                                                  "MutatingAdmissionWebhook",
                                                  "NamespaceAutoProvision",
                                                  "NamespaceExists",
                                                  "NamespaceLifecycle",
                                                  "NodeRestriction",
                                                  "OwnerReferencesPermissionEnforcement",
                                                  "PersistentVolumeClaimResize",
                                                  "PodNodeSelector",
                                                  "PodSecurity",
                                                  "PodTolerationRestriction",
                                                  "PodTopologyLabels",
                                                  "Priority",
                                                  "ResourceQuota",
                                                  "RuntimeClass",
                                                  "ServiceAccount",
                                                  "StorageObjectInUseProtection",
                                                  "TaintNodesByCondition",
                                                  "ValidatingAdmissionPolicy",
                                                  "ValidatingAdmissionWebhook"};
constexpr std::string_view kServiceAccountPlugin = "ServiceAccount";

/// Smaller and larger ones kube-apiserver refuses, too.
constexpr std::uint32_t kFewestAddresses = 8;
constexpr std::uint32_t kMostAddresses = 1u << 20;

bool names_it(const std::vector<std::string>& list, std::string_view item) {
    return std::ranges::find(list, item) != list.end();
}

/// Reads one line, and gathers what is wrong with it.
class KubeApiserverFlagReader {
  public:
    explicit KubeApiserverFlagReader(const GivenFlags& given) : given_(given) {}

    Result<KubeApiserverOptions> read() {
        look_at_effects();
        read_address();
        read_etcd();
        read_files();
        read_accounts();
        read_services();
        read_authorization();
        read_admission();
        read_limits();
        if (wrong_.empty()) return std::move(options_);
        if (wrong_.size() == 1) return Error(Code::kInvalid, std::move(wrong_.front()));
        return Error(Code::kInvalid, fmt::format("[{}]", fmt::join(wrong_, ", ")));
    }

  private:
    void wrong(std::string what) { wrong_.push_back(std::move(what)); }

    void look_at_effects() {
        for (const KubeApiserverFlag& flag : kube_apiserver_flag_table()) {
            if (!given_.has(flag.name) || given_.text(flag.name).empty()) continue;
            if (flag.effect == FlagEffect::kRefused)
                wrong(fmt::format("--{} is not served here: {}", flag.name, flag.text));
            if (flag.effect == FlagEffect::kTold)
                options_.without_effect.push_back(
                    fmt::format("--{}={}", flag.name, fmt::join(given_.all(flag.name), ",")));
        }
        if (!given_.on("allow-privileged", true))
            options_.without_effect.emplace_back("--allow-privileged=false");
    }

    void read_address() {
        const std::string address = given_.text("bind-address", options_.listen.address);
        const long long port = given_.number("secure-port", options_.listen.port);
        if (port < 1 || port > 65535)
            wrong(
                fmt::format("--secure-port {} must be between 1 and 65535, inclusive. It cannot "
                            "be turned off with 0",
                            port));
        options_.listen.port = static_cast<std::uint16_t>(port);
        // An address of its own is known to parse if the whole is.
        const bool v6 = address.find(':') != address.npos;
        const auto parsed = control_plane::parse_listen_address(v6 ? fmt::format("[{}]:1", address)
                                                                   : address + ":1");
        if (!parsed || address.empty())
            wrong(fmt::format("--bind-address wants an IP address, not \"{}\"", address));
        else
            options_.listen.address = parsed->address;
    }

    void read_etcd() {
        for (const std::string& url : given_.list("etcd-servers")) {
            if (const auto address = parse_http_url(url))
                options_.etcd_servers.push_back(*address);
            else
                wrong(
                    fmt::format("--etcd-servers wants http://HOST:PORT of the etcd of this "
                                "program, not \"{}\"",
                                url));
        }
        if (!given_.has("etcd-servers")) wrong("--etcd-servers must be specified");
    }

    void read_files() {
        options_.cert_dir = given_.text("cert-dir", options_.cert_dir);
        options_.tls_cert_file = given_.text("tls-cert-file");
        options_.tls_key_file = given_.text("tls-private-key-file");
        if (options_.tls_cert_file.empty() != options_.tls_key_file.empty())
            wrong("--tls-cert-file and --tls-private-key-file need each other");
        options_.client_ca_file = given_.text("client-ca-file");
        options_.token_file = given_.text("token-auth-file");
    }

    void read_accounts() {
        options_.issuers = given_.all("service-account-issuer");
        options_.audiences = given_.list("api-audiences");
        options_.account_keys = given_.all("service-account-key-file");
        options_.signing_key_file = given_.text("service-account-signing-key-file");
        std::set<std::string> seen;
        for (const std::string& issuer : options_.issuers) {
            if (issuer.empty())
                wrong("service-account-issuer should not be an empty string");
            else if (!seen.insert(issuer).second)
                wrong(fmt::format("service-account-issuer \"{}\" is already specified", issuer));
        }
        if (options_.issuers.empty()) wrong("service-account-issuer is a required flag");
        if (options_.issuers.empty() || options_.signing_key_file.empty())
            wrong(
                "--service-account-signing-key-file and --service-account-issuer are required "
                "flags");
        if (!options_.account_keys.empty()) return;
        // As kube-apiserver does: the key of its own certificate.
        if (options_.tls_key_file.empty())
            wrong(
                "either `--service-account-key-file` or `--service-account-signing-endpoint` must "
                "be set");
        else
            options_.account_keys = {options_.tls_key_file};
    }

    void read_services() {
        std::vector<std::string> ranges = given_.list("service-cluster-ip-range");
        if (ranges.empty()) ranges = {"10.0.0.0/24"};
        if (ranges.size() > 2)
            wrong("--service-cluster-ip-range must not contain more than two entries");
        const auto range = apiserver::ServiceRange::parse(ranges.front());
        if (!range)
            wrong(fmt::format("--service-cluster-ip-range wants an IPv4 network, not \"{}\"",
                              ranges.front()));
        else if (range->size < kFewestAddresses)
            wrong(fmt::format("the service cluster IP range must be at least {} IP addresses",
                              kFewestAddresses));
        else if (range->size > kMostAddresses)
            wrong(
                "specified --service-cluster-ip-range is too large; for 32-bit addresses, the "
                "mask must be >= 12");
        else
            options_.services = *range;
        if (ranges.size() == 2)
            options_.without_effect.push_back("--service-cluster-ip-range=" + ranges.back());
    }

    void read_authorization() {
        std::vector<std::string> modes = given_.list("authorization-mode");
        if (!given_.has("authorization-mode")) modes = {"AlwaysAllow"};
        if (modes.empty()) wrong("at least one authorization-mode must be passed");
        for (const std::string& mode : modes) {
            if (mode == "RBAC" || mode == "Node" || mode == "AlwaysAllow") continue;
            if (mode == "AlwaysDeny" || mode == "ABAC" || mode == "Webhook")
                wrong(
                    fmt::format("authorization-mode {} is not served here: RBAC, Node and "
                                "AlwaysAllow are",
                                mode));
            else
                wrong(fmt::format("authorization-mode \"{}\" is not a valid mode", mode));
        }
        if (std::set<std::string>(modes.begin(), modes.end()).size() != modes.size())
            wrong(fmt::format("authorization-mode [\"{}\"] has mode specified more than once",
                              fmt::join(modes, "\" \"")));
        options_.everything_allowed = names_it(modes, "AlwaysAllow");
        // kube-apiserver lets no anonymous users in where everyone may do everything.
        options_.anonymous = given_.on("anonymous-auth", true) && !options_.everything_allowed;
        if (given_.on("anonymous-auth") && options_.everything_allowed)
            options_.without_effect.emplace_back("--anonymous-auth=true");
    }

    void read_admission() {
        const std::vector<std::string> off = given_.list("disable-admission-plugins");
        const std::vector<std::string> on = given_.list("enable-admission-plugins");
        for (const auto& [flag, names] : {std::pair{"enable", on}, std::pair{"disable", off}})
            for (const std::string& name : names)
                if (std::ranges::find(kAdmissionPlugins, name) == std::end(kAdmissionPlugins))
                    wrong(fmt::format("{}-admission-plugins plugin \"{}\" is unknown", flag, name));
        for (const std::string& name : on)
            if (names_it(off, name))
                wrong(
                    fmt::format("[{}] in enable-admission-plugins and disable-admission-plugins "
                                "overlapped",
                                name));
        options_.pods_need_accounts = !names_it(off, kServiceAccountPlugin);
        for (const std::string& name : off)
            if (name != kServiceAccountPlugin)
                options_.without_effect.push_back("--disable-admission-plugins=" + name);
    }

    void read_limits() {
        const auto limit = [&](std::string_view flag, std::size_t& to) {
            const long long number = given_.number(flag, static_cast<long long>(to));
            if (number < 0) wrong(fmt::format("--{} can not be negative value", flag));
            to = static_cast<std::size_t>(std::max(number, 0ll));
        };
        limit("max-requests-inflight", options_.limits.read_only);
        limit("max-mutating-requests-inflight", options_.limits.mutating);
        options_.verbosity = parse_number<int>(given_.text("v", "0")).value_or(0);
    }

    const GivenFlags& given_;
    KubeApiserverOptions options_;
    std::vector<std::string> wrong_;
};

void list_flags(std::string& text, FlagEffect effect, bool with_what) {
    for (const KubeApiserverFlag& flag : kube_apiserver_flag_table()) {
        if (flag.effect != effect) continue;
        if (with_what)
            text += fmt::format("      --{:<36} {}\n", flag.name, flag.text);
        else
            text += fmt::format("      --{}\n", flag.name);
    }
}

}  // namespace

std::vector<GoFlag> kube_apiserver_flags() {
    std::vector<GoFlag> flags;
    for (const KubeApiserverFlag& flag : kube_apiserver_flag_table())
        flags.push_back({flag.name, flag.kind});
    return flags;
}

Result<KubeApiserverOptions> read_kube_apiserver_flags(const GivenFlags& given) {
    return KubeApiserverFlagReader(given).read();
}

std::string kube_apiserver_help() {
    std::string text = std::string(kKubeApiserverHelp) + "Flags:\n";
    list_flags(text, FlagEffect::kHonoured, true);
    text += "  -h, --help                                 print this\n";
    text += "\nAccepted, and without effect, which is said on standard error:\n";
    list_flags(text, FlagEffect::kTold, false);
    text += "\nAccepted: there is nothing here that they could change:\n";
    list_flags(text, FlagEffect::kQuiet, false);
    text += "\nRefused, unless they are empty:\n";
    list_flags(text, FlagEffect::kRefused, true);
    return text;
}

std::optional<control_plane::ListenAddress> parse_http_url(std::string_view url) {
    constexpr std::string_view kHttp = "http://";
    if (!url.starts_with(kHttp)) return std::nullopt;
    url.remove_prefix(kHttp.size());
    if (url.ends_with('/')) url.remove_suffix(1);
    constexpr std::string_view kLocal = "localhost:";
    const std::string text = url.starts_with(kLocal)
                                 ? fmt::format("127.0.0.1:{}", url.substr(kLocal.size()))
                                 : std::string(url);
    if (text.starts_with(':') || text.find(':') == text.npos || text.ends_with(']'))
        return std::nullopt;
    return control_plane::parse_listen_address(text);
}

}  // namespace muster::cli
