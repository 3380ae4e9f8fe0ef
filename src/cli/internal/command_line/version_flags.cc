#include <fmt/format.h>

#include "cli/internal/command_line/raw_flags.h"

// Flags of the verbs that look at versions and fields: convert, explain.

namespace muster::cli {

namespace {

constexpr std::string_view kGroup = "kubeflow.org";

std::optional<std::string> take_output(const std::string& output, OutputFormat& format) {
    if (output == "json")
        format = OutputFormat::kJson;
    else if (output == "yaml")
        format = OutputFormat::kYaml;
    else if (!output.empty())
        return fmt::format("--output wants json or yaml, not \"{}\"", output);
    return std::nullopt;
}

/// A path of fields has neither slashes nor the ending of a file, and starts with a letter.
bool is_field_path(std::string_view word) {
    for (const std::string_view ending : {".yaml", ".yml", ".json"})
        if (word.ends_with(ending)) return false;
    return word != "-" && word.find('/') == std::string_view::npos;
}

}  // namespace

std::optional<std::string> take_apart(const Raw& raw, ConvertOptions& options) {
    options.files.insert(options.files.end(), raw.more_files.begin(), raw.more_files.end());
    if (options.files.empty()) return "name a manifest, or - for standard input";
    const std::size_t slash = raw.to.find('/');
    if (slash != std::string::npos) options.to_kind = raw.to.substr(0, slash);
    options.to_version = slash == std::string::npos ? raw.to : raw.to.substr(slash + 1);
    if (options.to_kind == kGroup) options.to_kind.clear();
    if (!raw.to.empty() && (options.to_version.empty() || slash == 0 ||
                            options.to_version.find('/') != std::string::npos))
        return fmt::format("--to wants KIND/VERSION or VERSION, as in pytorchjob/v1, not \"{}\"",
                           raw.to);
    return take_output(raw.output, options.output);
}

std::optional<std::string> take_apart(const Raw& raw, ExplainOptions& options) {
    options.files = raw.more_files;
    for (const std::string& word : raw.words) {
        if (!is_field_path(word))
            options.files.push_back(word);
        else if (!std::exchange(options.path, word).empty())
            return fmt::format("one field at a time; leave out \"{}\"", word);
    }
    if (options.files.empty() == options.path.empty())
        return options.path.empty()
                   ? "name a manifest, or a field as in pytorchjob.spec.elasticPolicy"
                   : "name manifests or a field, not both";
    if (!options.path.empty() &&
        (!options.rank.empty() || !raw.output.empty() || !options.in_pods_image.empty()))
        return "--rank, --in-pods-image and --output go with a manifest, not with a field";
    if (options.path.empty() && (options.recursive || !options.api_version.empty()))
        return "--recursive and --api-version go with a field, not with a manifest";
    return take_output(raw.output, options.output);
}

}  // namespace muster::cli
