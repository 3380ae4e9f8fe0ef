#include "cli/internal/flags/shared_flags.h"

#include <fmt/format.h>

#include <utility>

#include "base/time/duration.h"

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

std::optional<std::string> check_mounts(const ManifestOptions& options) {
    for (const auto& [image, directory] : options.mounts) {
        if (!image.starts_with('/'))
            return fmt::format("--mount {}={}: the path of the image must be absolute", image,
                               directory);
        if (directory.empty()) return fmt::format("--mount {}=: the directory is missing", image);
    }
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
    adjustments_.declare(flags, options.adjustments);
    flags.value("--workdir", options.adjustments.workdir);
    flags.list("--mount", mounts_);
    flags.list("--ignore-resources", options.adjustments.ignored_resources, ',');
    flags.value("--fit", fit_);
    flags.flag("--strict", options.strict);
    flags.flag("--wait-for-others", options.wait_for_others);
}

std::optional<std::string> ManifestFlags::finish(ManifestOptions& options) const {
    manifest::Adjustments& adjustments = options.adjustments;
    if (auto wrong = adjustments_.finish(adjustments)) return wrong;
    if (auto wrong = read_assignments({mounts_, options.mounts, "--mount", "IMAGE_PATH=DIR"}))
        return wrong;
    if (fit_ != "scale" && fit_ != "strict")
        return fmt::format("--fit wants scale or strict, not \"{}\"", fit_);
    options.fit = fit_ == "strict" ? manifest::Fit::kStrict : manifest::Fit::kScale;
    if (auto wrong = check_mounts(options)) return wrong;
    if (adjustments.workdir == "per-pod") {
        options.own_workdir = true;
        adjustments.workdir.clear();
    }
    options.files.insert(options.files.end(), more_files_.begin(), more_files_.end());
    if (options.files.empty() && !options.is_made)
        return "name a manifest, or - for standard input";
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
