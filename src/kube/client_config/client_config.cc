#include "kube/client_config/client_config.h"

#include <fmt/format.h>

#include <filesystem>

#include "kube/client_config/proxy.h"
#include "kube/schema/schema.h"
#include "kube/values/base64.h"
#include "kube/values/json_access.h"

namespace muster::kube {

namespace {

/// Reads one entry, field by field.
class EntryReader {
  public:
    /// `what` names it in messages: `cluster "muster"`.
    EntryReader(const KubeconfigEntry& entry, std::string what)
        : entry_(entry), what_(std::move(what)) {}

    Error wrong(std::string_view field, std::string_view why) const {
        return Error(Code::kInvalid, fmt::format("{}: {}: {} {}", entry_.file, what_, field, why));
    }
    bool has(std::string_view field) const {
        const json::value* value = entry_.fields.if_contains(field);
        return value != nullptr && !value->is_null();
    }

    Result<std::string> text(std::string_view field) const {
        const json::value* value = entry_.fields.if_contains(field);
        if (value == nullptr || value->is_null()) return std::string();
        const json::string* text = value->if_string();
        if (text == nullptr) return wrong(field, "has to be a text");
        return std::string(*text);
    }
    Result<bool> flag(std::string_view field) const {
        const json::value* value = entry_.fields.if_contains(field);
        if (value == nullptr || value->is_null()) return false;
        if (!value->is_bool()) return wrong(field, "has to be true or false");
        return value->get_bool();
    }
    /// A path is relative to the file that has it.
    Result<std::string> path(std::string_view field) const {
        TRY(const std::string text, this->text(field));
        if (text.empty()) return text;
        return beside_file(text);
    }
    std::string beside_file(const std::string& path) const {
        return (std::filesystem::path(entry_.file).parent_path() / path).lexically_normal();
    }
    /// FIELD-data, base64, takes precedence over the file in FIELD.
    Result<TextOrFile> text_or_file(const std::string& field) const {
        TextOrFile found;
        TRY(const std::string encoded, text(field + "-data"));
        if (encoded.empty()) {
            TRY(found.file, path(field));
            return found;
        }
        std::optional<std::string> decoded = base64_decode(encoded);
        if (!decoded) return wrong(field + "-data", "is not base64");
        found.text = *std::move(decoded);
        return found;
    }
    Result<void> refuse(std::string_view field, std::string_view why) const {
        if (!has(field)) return {};
        return wrong(field, why);
    }

  private:
    const KubeconfigEntry& entry_;
    std::string what_;
};

std::vector<std::string> names_of(const std::map<std::string, KubeconfigEntry>& entries) {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries) names.push_back(name);
    return names;
}

std::string joined_files(const MergedKubeconfig& config) {
    return fmt::format("{}", fmt::join(config.files, ", "));
}

/// "; there are a, b", or what was probably meant.
std::string instead_of(const std::string& wanted,
                       const std::map<std::string, KubeconfigEntry>& entries) {
    const std::vector<std::string> names = names_of(entries);
    if (names.empty()) return "; there is none";
    const std::string nearest = nearest_name(wanted, names);
    if (!nearest.empty()) return fmt::format("; did you mean \"{}\"?", nearest);
    return fmt::format("; there are: {}", fmt::join(names, ", "));
}

Result<void> read_cluster(const EntryReader& cluster, ClientConfig& access) {
    TRY(const std::string server, cluster.text("server"));
    if (server.empty()) return cluster.wrong("server", "is missing: the URL of the API server");
    TRY(access.ca, cluster.text_or_file("certificate-authority"));
    TRY(access.insecure, cluster.flag("insecure-skip-tls-verify"));
    TRY(access.tls_server_name, cluster.text("tls-server-name"));
    if (access.insecure && !access.ca.empty())
        return cluster.wrong("insecure-skip-tls-verify",
                             "is true although there is a certificate-authority: take one away");
    TRY(access.proxy_url, cluster.text("proxy-url"));
    if (!access.proxy_url.empty()) {
        const Result<Proxy> proxy = parse_proxy(access.proxy_url);
        if (!proxy) return cluster.wrong("proxy-url", proxy.error().message());
    }
    const bool tls_is_meant = access.insecure || !access.ca.empty() ||
                              !access.certificate.empty() || !access.tls_server_name.empty();
    Result<ServerUrl> url = parse_server_url(server, tls_is_meant);
    if (!url) return cluster.wrong("server", url.error().message());
    access.url = *std::move(url);
    return {};
}

Result<ExecPlugin> read_exec(const EntryReader& user, const json::object& exec) {
    ExecPlugin plugin;
    plugin.command = string_at(exec, "command");
    if (plugin.command.empty()) return user.wrong("exec.command", "is missing");
    if (plugin.command.find('/') != plugin.command.npos)
        plugin.command = user.beside_file(plugin.command);
    plugin.api_version = string_at(exec, "apiVersion");
    if (plugin.api_version != "client.authentication.k8s.io/v1" &&
        plugin.api_version != "client.authentication.k8s.io/v1beta1")
        return user.wrong("exec.apiVersion",
                          fmt::format("is \"{}\"; client.authentication.k8s.io/v1 and /v1beta1 "
                                      "are supported",
                                      plugin.api_version));
    plugin.arguments = strings_at(exec, "args");
    if (const json::array* variables = array_at(exec, "env"))
        for (const json::value& item : *variables)
            if (const json::object* variable = item.if_object())
                plugin.environment.emplace_back(string_at(*variable, "name"),
                                                string_at(*variable, "value"));
    plugin.install_hint = string_at(exec, "installHint");
    plugin.provide_cluster_info = bool_at(exec, "provideClusterInfo");
    plugin.may_ask = string_at(exec, "interactiveMode") != "Never";
    return plugin;
}

Result<ActAs> read_act_as(const EntryReader& user, const json::object& fields) {
    ActAs as;
    TRY(as.user, user.text("as"));
    TRY(as.uid, user.text("as-uid"));
    as.groups = strings_at(fields, "as-groups");
    if (const json::object* extra = object_at(fields, "as-user-extra"))
        for (const auto& [key, value] : *extra)
            for (const std::string& one : strings_at(*extra, key)) as.extra.emplace_back(key, one);
    if (as.user.empty() && !(as == ActAs{}))
        return user.wrong("as", "is missing: as-uid, as-groups and as-user-extra go with it");
    return as;
}

Result<void> read_user(const EntryReader& user, const json::object& fields, ClientConfig& access) {
    constexpr std::string_view kGone =
        "is not supported: kubectl has dropped it, too; use an exec plugin";
    TRY_VOID(user.refuse("auth-provider", kGone));
    TRY(access.certificate, user.text_or_file("client-certificate"));
    TRY(access.key, user.text_or_file("client-key"));
    if (access.certificate.empty() != access.key.empty())
        return user.wrong(access.key.empty() ? "client-key" : "client-certificate",
                          "is missing: certificate and key go together");
    TRY(access.token, user.text("token"));
    TRY(access.token_file, user.path("tokenFile"));
    TRY(access.username, user.text("username"));
    TRY(access.password, user.text("password"));
    if (!access.username.empty() && (!access.token.empty() || !access.token_file.empty()))
        return user.wrong("username", "is there although there is a token: take one away");
    TRY(access.act_as, read_act_as(user, fields));
    if (!user.has("exec")) return {};
    const json::object* exec = object_at(fields, "exec");
    if (exec == nullptr) return user.wrong("exec", "has to be a map");
    TRY(access.exec, read_exec(user, *exec));
    return {};
}

}  // namespace

Result<ClientConfig> select_access(const MergedKubeconfig& config, const std::string& wanted) {
    ClientConfig access;
    access.context = wanted.empty() ? config.current_context : wanted;
    if (access.context.empty())
        return Error(Code::kInvalid,
                     fmt::format("{}: there is no current-context; choose one with --context{}",
                                 joined_files(config), instead_of("", config.contexts)));
    const auto context = config.contexts.find(access.context);
    if (context == config.contexts.end())
        return Error(Code::kInvalid,
                     fmt::format("{}: there is no context \"{}\"{}", joined_files(config),
                                 access.context, instead_of(access.context, config.contexts)));
    access.file = context->second.file;
    const EntryReader reader(context->second, fmt::format("context \"{}\"", access.context));
    TRY(const std::string ns, reader.text("namespace"));
    if (!ns.empty()) access.namespace_ = ns;
    TRY(const std::string cluster_name, reader.text("cluster"));
    TRY(access.user, reader.text("user"));
    if (cluster_name.empty()) return reader.wrong("cluster", "is missing");
    if (!access.user.empty()) {
        const auto user = config.users.find(access.user);
        if (user == config.users.end())
            return reader.wrong(
                "user", fmt::format("names \"{}\", which is not among the users{}", access.user,
                                    instead_of(access.user, config.users)));
        TRY_VOID(read_user(EntryReader(user->second, fmt::format("user \"{}\"", access.user)),
                           user->second.fields, access));
    }
    const auto cluster = config.clusters.find(cluster_name);
    if (cluster == config.clusters.end())
        return reader.wrong(
            "cluster", fmt::format("names \"{}\", which is not among the clusters{}", cluster_name,
                                   instead_of(cluster_name, config.clusters)));
    TRY_VOID(read_cluster(EntryReader(cluster->second, fmt::format("cluster \"{}\"", cluster_name)),
                          access));
    return access;
}

}  // namespace muster::kube
