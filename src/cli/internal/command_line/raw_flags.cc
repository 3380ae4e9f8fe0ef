#include "cli/internal/command_line/raw_flags.h"

#include <fmt/format.h>

#include <utility>

#include "base/duration.h"
#include "kube/values/name_syntax.h"
#include "kube/values/quantity.h"

namespace muster::cli {

namespace {

struct Assignments {
    const std::vector<std::string>& written;
    std::vector<std::pair<std::string, std::string>>& parsed;
    std::string_view flag;
    std::string_view form;
};

std::optional<std::string> take_apart(const Raw& raw, runtime::SandboxMode& sandbox) {
    if (raw.sandbox == "none")
        sandbox = runtime::SandboxMode::kNone;
    else if (raw.sandbox == "namespaces")
        sandbox = runtime::SandboxMode::kNamespaces;
    else if (raw.sandbox != "auto")
        return fmt::format("--sandbox wants auto, namespaces or none, not \"{}\"", raw.sandbox);
    return std::nullopt;
}

}  // namespace

std::optional<std::string> take_apart(const Raw& raw, ManifestOptions& options) {
    for (const Assignments& list :
         {Assignments{raw.sets, options.adjustments.sets, "--set", "PATH=VALUE"},
          Assignments{raw.replicas, options.adjustments.replicas, "--replicas", "TYPE=N"},
          Assignments{raw.env, options.adjustments.env, "--env", "NAME=VALUE"},
          Assignments{raw.mounts, options.mounts, "--mount", "IMAGE_PATH=DIR"}}) {
        for (const std::string& text : list.written) {
            std::pair<std::string, std::string> parsed;
            if (!manifest::split_assignment(text, parsed))
                return fmt::format("{} wants {}, not \"{}\"", list.flag, list.form, text);
            list.parsed.push_back(std::move(parsed));
        }
    }
    if (raw.fit != "scale" && raw.fit != "strict")
        return fmt::format("--fit wants scale or strict, not \"{}\"", raw.fit);
    options.fit = raw.fit == "strict" ? manifest::Fit::kStrict : manifest::Fit::kScale;
    for (const auto& [image, directory] : options.mounts) {
        if (!image.starts_with('/'))
            return fmt::format("--mount {}={}: the path of the image must be absolute", image,
                               directory);
        if (directory.empty()) return fmt::format("--mount {}=: the directory is missing", image);
    }
    if (options.adjustments.workdir == "per-pod") {
        options.own_workdir = true;
        options.adjustments.workdir.clear();
    }
    options.files.insert(options.files.end(), raw.more_files.begin(), raw.more_files.end());
    if (options.files.empty()) return "name a manifest, or - for standard input";
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw& raw, ValidateOptions& options) {
    return take_apart(raw, options.manifest);
}

std::optional<std::string> take_apart(const Raw& raw, apiserver_http::AuditLevel& level) {
    if (raw.audit_level == "Metadata")
        level = apiserver_http::AuditLevel::kMetadata;
    else if (raw.audit_level == "Request")
        level = apiserver_http::AuditLevel::kRequest;
    else if (raw.audit_level == "RequestResponse")
        level = apiserver_http::AuditLevel::kRequestResponse;
    else
        return fmt::format("--audit-level wants Metadata, Request or RequestResponse, not \"{}\"",
                           raw.audit_level);
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw& raw, UpOptions& options) {
    if (auto wrong = take_apart(raw, options.audit_level)) return wrong;
    constexpr std::uint64_t kMiB = 1024 * 1024;
    if (raw.audit_log_maxsize == 0 || raw.audit_log_maxsize > kMiB)
        return fmt::format("--audit-log-maxsize wants 1 to {} MiB", kMiB);
    options.audit_limits.file_bytes = raw.audit_log_maxsize * kMiB;
    if (options.audit_log.empty() && options.audit_level != apiserver_http::AuditLevel::kMetadata)
        return "--audit-level needs --audit-log FILE: nothing is recorded without it";
    if (auto wrong = take_apart(raw, options.sandbox)) return wrong;
    if (raw.listen.empty()) return std::nullopt;
    const std::optional<control_plane::ListenAddress> listen =
        control_plane::parse_listen_address(raw.listen);
    if (!listen)
        return fmt::format(
            "--listen wants an IP address with or without a port, such as 127.0.0.1:6443 or "
            "[::1]:6443, not \"{}\"",
            raw.listen);
    options.listen = *listen;
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw& raw, RunOptions& options) {
    if (options.warm && !options.elastic)
        return "--warm needs --elastic: the spares are those of its agents";
    if (auto wrong = take_apart(raw, options.manifest)) return wrong;
    if (auto wrong = take_apart(raw, options.sandbox)) return wrong;
    if (raw.files != "shared" && raw.files != "private")
        return fmt::format("--files wants shared or private, not \"{}\"", raw.files);
    options.private_files = raw.files == "private";
    if (!raw.context.empty() || !raw.kubeconfig.empty())
        options.cluster = {.kubeconfig = raw.kubeconfig,
                           .context = raw.context,
                           .namespace_ = options.manifest.adjustments.namespace_};
    if (!raw.files_limit.empty()) {
        const auto limit = kube::Quantity::parse(raw.files_limit);
        if (!limit || limit->ceil_units() < 1)
            return fmt::format("--files-limit wants a size such as 512Mi or 4Gi, not \"{}\"",
                               raw.files_limit);
        options.files_bytes = static_cast<std::uint64_t>(limit->ceil_units());
    }
    if (raw.output == "json")
        options.output = OutputFormat::kJson;
    else if (raw.output == "yaml")
        options.output = OutputFormat::kYaml;
    else if (!raw.output.empty())
        return fmt::format("--output wants json or yaml, not \"{}\"", raw.output);
    if (!raw.timeout.empty()) {
        options.timeout = parse_duration(raw.timeout);
        if (!options.timeout)
            return fmt::format("--timeout wants a duration such as 90s or 1h30m, not \"{}\"",
                               raw.timeout);
    }
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw& raw, SimulateOptions& options) {
    options.files.insert(options.files.end(), raw.more_files.begin(), raw.more_files.end());
    if (options.files.empty()) return "name a manifest, a scenario, or - for standard input";
    if (options.nodes && (*options.nodes < 1 || *options.nodes > 100'000))
        return fmt::format("--nodes wants a number from 1 to 100000, not {}", *options.nodes);
    if (options.seeds < 1) return "--seeds wants a number above 0";
    if (raw.output == "json")
        options.output = OutputFormat::kJson;
    else if (!raw.output.empty() && raw.output != "text")
        return fmt::format("--output wants text or json, not \"{}\"", raw.output);
    if (!raw.duration.empty()) {
        options.duration = parse_duration(raw.duration);
        if (!options.duration || *options.duration > std::chrono::hours(24 * 365))
            return fmt::format(
                "--duration wants a duration of a year at most, such as 90s or 1h30m, not \"{}\"",
                raw.duration);
    }
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw& raw, ManifestsOptions& options) {
    Installation& wanted = options.installation;
    const auto no_namespace = [](std::string_view flag, const std::string& name) {
        return fmt::format("{} wants the name of a namespace, not \"{}\"", flag, name);
    };
    if (!wanted.watched.empty() && !kube::is_dns1123_label(wanted.watched))
        return no_namespace("--namespace", wanted.watched);
    if (!kube::is_dns1123_label(wanted.namespace_))
        return no_namespace("--install-namespace", wanted.namespace_);
    if (raw.installed_replicas < 1)
        return fmt::format("--replicas wants a number above 0, not {}", raw.installed_replicas);
    wanted.replicas = raw.installed_replicas;
    if (!raw.image.empty()) wanted.image = json::string(raw.image);
    wanted.admission_policies = !raw.without_admission_policy;
    if (raw.layout == "helm")
        options.layout = Layout::kHelm;
    else if (raw.layout == "kustomize")
        options.layout = Layout::kKustomize;
    else if (!raw.layout.empty())
        return fmt::format("--layout wants helm or kustomize, not \"{}\"", raw.layout);
    const bool is_stream = options.layout == Layout::kStream;
    if (is_stream != options.output_dir.empty())
        return is_stream
                   ? "--output-dir needs --layout helm or kustomize: without it all is printed"
                   : "--layout needs --output-dir DIR: it is several files";
    if (!is_stream && options.crds_only) return "--crds-only has no layout: leave --layout out";
    if (!is_stream && !wanted.watched.empty())
        return "--namespace has no layout: a chart takes it as the value watchNamespace, and the "
               "kustomization has overlays/namespaced";
    return std::nullopt;
}

}  // namespace muster::cli
