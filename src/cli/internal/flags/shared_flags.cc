#include "cli/internal/flags/shared_flags.h"

#include <fmt/format.h>

#include <utility>

#include "base/time/duration.h"
#include "kube/values/quantity.h"

namespace muster::cli {

namespace {

/// An unset variable of a script must not stand for ~/.muster.
std::string not_a_directory(const std::string& text) {
    return text.empty() ? "wants a directory, not \"\"" : "";
}

struct Assignments {
    const std::vector<std::string>& written;
    std::vector<std::pair<std::string, std::string>>& parsed;
    std::string_view flag;
    std::string_view form;
};

std::optional<std::string> read_assignments(const Assignments& list) {
    for (const std::string& text : list.written) {
        std::pair<std::string, std::string> parsed;
        if (!manifest::split_assignment(text, parsed))
            return fmt::format("{} wants {}, not \"{}\"", list.flag, list.form, text);
        list.parsed.push_back(std::move(parsed));
    }
    return std::nullopt;
}

/// `kind`: of the objects that the flags make.
std::optional<std::string> read_file_objects(const std::vector<std::string>& written,
                                             std::string_view flag, const std::string& kind,
                                             std::vector<FileObject>& objects) {
    for (const std::string& text : written) {
        std::pair<std::string, std::string> parsed;
        if (!manifest::split_assignment(text, parsed) || parsed.second.empty())
            return fmt::format(
                "{} wants NAME=FILE, NAME=DIR, NAME=KEY=VALUE or NAME=KEY=@FILE, not \"{}\"", flag,
                text);
        objects.push_back({kind, std::move(parsed.first), std::move(parsed.second)});
    }
    return std::nullopt;
}

std::optional<std::string> read_entrypoint_flags(const std::vector<std::string>& written,
                                                 kube::Entrypoints& known,
                                                 std::vector<std::string>& images) {
    for (const std::string& text : written) {
        std::pair<std::string, std::string> parsed;
        if (!manifest::split_assignment(text, parsed))
            return fmt::format("--entrypoint wants IMAGE=COMMAND, not \"{}\"", text);
        auto words = kube::command_words(parsed.second);
        if (!words) return fmt::format("--entrypoint {}: {}", text, words.error().message());
        known.add(parsed.first, *std::move(words));
        images.push_back(std::move(parsed.first));
    }
    return std::nullopt;
}

std::optional<std::string> check_fit(const std::string& text) {
    if (text == "scale" || text == "strict") return std::nullopt;
    return fmt::format("--fit wants scale or strict, not \"{}\"", text);
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::optional<std::string> check_mounts(const Pairs& mounts, const Pairs& volumes) {
    for (const auto& [image, directory] : mounts) {
        if (!image.starts_with('/'))
            return fmt::format("--mount {}={}: the path of the image must be absolute", image,
                               directory);
        if (directory.empty()) return fmt::format("--mount {}=: the directory is missing", image);
    }
    for (const auto& [claim, directory] : volumes)
        if (directory.empty()) return fmt::format("--volume {}=: the directory is missing", claim);
    return std::nullopt;
}

}  // namespace

void declare_server_flags(Flags& flags, ServerOptions& options) {
    flags.value("--kubeconfig", options.kubeconfig);
    flags.value("--context", options.context);
    flags.value("--namespace,-n", options.namespace_);
}

void declare_object_flags(Flags& flags, ObjectOptions& options) {
    flags.words("words", options.words);
    flags.value("--selector,-l", options.label_selector);
    flags.value("--field-selector", options.field_selector);
    flags.flag("--all-namespaces,-A", options.all_namespaces);
}

void declare_state_flag(Flags& flags, std::string& directory) {
    flags.value("--state", directory, not_a_directory);
}

void AdjustmentFlags::declare(Flags& flags, manifest::Adjustments& adjustments) {
    flags.value("--namespace,-n", adjustments.namespace_);
    flags.list("--set", sets_);
    flags.list("--replicas", replicas_);
    flags.list("--env", env_);
}

std::optional<std::string> AdjustmentFlags::finish(manifest::Adjustments& adjustments) const {
    for (const Assignments& list :
         {Assignments{sets_, adjustments.sets, "--set", "PATH=VALUE"},
          Assignments{replicas_, adjustments.replicas, "--replicas", "TYPE=N"},
          Assignments{env_, adjustments.env, "--env", "NAME=VALUE"}})
        if (auto wrong = read_assignments(list)) return wrong;
    return std::nullopt;
}

std::vector<std::string> AdjustmentFlags::words(const manifest::Adjustments& adjustments) const {
    std::vector<std::string> words;
    if (!adjustments.namespace_.empty())
        words.insert(words.end(), {"--namespace", adjustments.namespace_});
    for (const std::string& text : sets_) words.insert(words.end(), {"--set", text});
    for (const std::string& text : replicas_) words.insert(words.end(), {"--replicas", text});
    for (const std::string& text : env_) words.insert(words.end(), {"--env", text});
    return words;
}

void ManifestFlags::declare(Flags& flags, ManifestOptions& options) {
    flags.words("files", options.files);
    flags.list("-f,--filename", more_files_);
    flags.flag("--recursive,-R", options.recursive);
    adjustments_.declare(flags, options.adjustments);
    flags.value("--workdir", options.adjustments.workdir);
    flags.list("--mount", mounts_);
    flags.list("--volume", volumes_);
    flags.list("--secret", secrets_);
    flags.list("--config", configs_);
    flags.list("--entrypoint", entrypoints_);
    flags.value("--entrypoints", options.entrypoints_file);
    flags.list("--ignore-resources", options.adjustments.ignored_resources, ',');
    flags.value("--fit", fit_);
    flags.flag("--strict", options.strict);
    flags.flag("--wait-for-others", options.wait_for_others);
}

std::optional<std::string> ManifestFlags::finish(ManifestOptions& options) const {
    manifest::Adjustments& adjustments = options.adjustments;
    if (auto wrong = adjustments_.finish(adjustments)) return wrong;
    for (const Assignments& list :
         {Assignments{mounts_, options.mounts, "--mount", "IMAGE_PATH=DIR"},
          Assignments{volumes_, options.volumes, "--volume", "CLAIM=DIR"}})
        if (auto wrong = read_assignments(list)) return wrong;
    if (auto wrong = read_file_objects(secrets_, "--secret", "Secret", options.file_objects))
        return wrong;
    if (auto wrong = read_file_objects(configs_, "--config", "ConfigMap", options.file_objects))
        return wrong;
    if (auto wrong = read_entrypoint_flags(entrypoints_, adjustments.entrypoints,
                                           adjustments.entrypoint_images))
        return wrong;
    if (auto wrong = check_fit(fit_)) return wrong;
    options.fit = fit_ == "strict" ? manifest::Fit::kStrict : manifest::Fit::kScale;
    if (auto wrong = check_mounts(options.mounts, options.volumes)) return wrong;
    if (adjustments.workdir == "per-pod") {
        options.own_workdir = true;
        adjustments.workdir.clear();
    }
    options.files.insert(options.files.end(), more_files_.begin(), more_files_.end());
    if (options.files.empty() && !options.is_made)
        return "name a manifest, or - for standard input";
    return std::nullopt;
}

void NodeFlags::declare(Flags& flags, NodeMappings& mappings) {
    flags.list("--env", env_);
    flags.value("--workdir", mappings.workdir);
    flags.list("--mount", mounts_);
    flags.list("--volume", volumes_);
    flags.list("--secret", secrets_);
    flags.list("--config", configs_);
    flags.list("--entrypoint", entrypoints_);
    flags.value("--entrypoints", mappings.entrypoints_file);
    flags.list("--ignore-resources", mappings.ignored_resources, ',');
    flags.value("--fit", fit_);
    flags.value("--files", files_);
    flags.value("--files-limit", files_limit_);
}

std::string NodeFlags::given(const Flags& flags) {
    for (const char* flag :
         {"--env", "--workdir", "--mount", "--volume", "--secret", "--config", "--entrypoint",
          "--entrypoints", "--ignore-resources", "--fit", "--files", "--files-limit"})
        if (flags.given(flag)) return flag;
    return {};
}

std::optional<std::string> NodeFlags::finish(NodeMappings& mappings) const {
    for (const Assignments& list :
         {Assignments{env_, mappings.env, "--env", "NAME=VALUE"},
          Assignments{mounts_, mappings.mounts, "--mount", "IMAGE_PATH=DIR"},
          Assignments{volumes_, mappings.volumes, "--volume", "CLAIM=DIR"}})
        if (auto wrong = read_assignments(list)) return wrong;
    if (auto wrong = read_file_objects(secrets_, "--secret", "Secret", mappings.file_objects))
        return wrong;
    if (auto wrong = read_file_objects(configs_, "--config", "ConfigMap", mappings.file_objects))
        return wrong;
    std::vector<std::string> images;
    if (auto wrong = read_entrypoint_flags(entrypoints_, mappings.entrypoints, images))
        return wrong;
    if (auto wrong = check_fit(fit_)) return wrong;
    mappings.scales_requests = fit_ == "scale";
    if (auto wrong =
            read_files_flags(files_, files_limit_, mappings.private_files, mappings.files_bytes))
        return wrong;
    if (mappings.workdir == "per-pod") {
        mappings.own_workdir = true;
        mappings.workdir.clear();
    }
    return check_mounts(mappings.mounts, mappings.volumes);
}

std::optional<std::string> read_files_flags(const std::string& files, const std::string& limit,
                                            bool& private_files, std::uint64_t& bytes) {
    if (files != "shared" && files != "private")
        return fmt::format("--files wants shared or private, not \"{}\"", files);
    private_files = files == "private";
    if (limit.empty()) return std::nullopt;
    const auto size = kube::Quantity::parse(limit);
    if (!size || size->ceil_units() < 1)
        return fmt::format("--files-limit wants a size such as 512Mi or 4Gi, not \"{}\"", limit);
    bytes = static_cast<std::uint64_t>(size->ceil_units());
    return std::nullopt;
}

void FileFlags::declare(Flags& flags, std::vector<std::string>& files) {
    flags.words("files", files);
    flags.list("-f,--filename", more_);
}

void FileFlags::finish(std::vector<std::string>& files) const {
    files.insert(files.end(), more_.begin(), more_.end());
}

std::optional<std::string> read_output(const std::string& text, OutputFormat& format) {
    if (text == "json")
        format = OutputFormat::kJson;
    else if (text == "yaml")
        format = OutputFormat::kYaml;
    else if (!text.empty())
        return fmt::format("--output wants json or yaml, not \"{}\"", text);
    return std::nullopt;
}

std::optional<std::string> read_sandbox(const std::string& text, runtime::SandboxMode& sandbox) {
    if (text == "none")
        sandbox = runtime::SandboxMode::kNone;
    else if (text == "namespaces")
        sandbox = runtime::SandboxMode::kNamespaces;
    else if (text != "auto")
        return fmt::format("--sandbox wants auto, namespaces or none, not \"{}\"", text);
    return std::nullopt;
}

std::optional<std::string> read_timeout(const std::string& text,
                                        std::chrono::nanoseconds& timeout) {
    const auto parsed = parse_duration(text);
    const bool zero = text == "0" || text == "0s";
    if (!parsed && !zero)
        return fmt::format("--timeout wants a duration such as 90s or 1h30m, not \"{}\"", text);
    timeout = zero ? std::chrono::nanoseconds(0) : *parsed;
    return std::nullopt;
}

std::optional<std::string> read_duration(std::string_view flag, const std::string& text,
                                         std::string_view such_as,
                                         std::optional<std::chrono::nanoseconds>& duration) {
    if (text.empty()) return std::nullopt;
    duration = parse_duration(text);
    if (duration) return std::nullopt;
    return fmt::format("{} wants a duration such as {}, not \"{}\"", flag, such_as, text);
}

std::string not_unnamed(const std::string& text) {
    return text.empty() ? "wants a name, not \"\"" : "";
}

std::string not_a_count(const std::string& text) {
    if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) return {};
    return fmt::format("wants 0 or a number above it, not \"{}\"", text);
}

}  // namespace muster::cli
