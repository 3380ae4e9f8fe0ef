#include "cli/internal/prepare/file_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "base/fields.h"
#include "cli/internal/prepare/object_references.h"
#include "kube/values/base64.h"
#include "kube/values/json_access.h"
#include "manifest/pod_specs.h"
#include "manifest/read_files.h"
#include "manifest/yaml/manifest_limits.h"
#include "manifest/yaml/yaml_text.h"

namespace muster::cli {

namespace fs = std::filesystem;

namespace {

/// What one object may hold, as a cluster says it.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::size_t kLongestKey = 253;

bool is_key(std::string_view key) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    };
    return !key.empty() && key.size() <= kLongestKey && key != "." && !key.starts_with("..") &&
           std::ranges::all_of(key, allowed);
}

Error not_a_key(const std::string& key) {
    return Error(Code::kInvalid,
                 fmt::format("\"{}\" can't be a key: keys have letters, digits, '-', '_' and '.', "
                             "and at most {} characters; write KEY=@FILE",
                             key, kLongestKey));
}

Result<void> add_key(KeyValues& to, const std::string& key, std::string value) {
    if (!is_key(key)) return not_a_key(key);
    if (!to.emplace(key, std::move(value)).second)
        return Error(Code::kInvalid, fmt::format("the key \"{}\" is given twice", key));
    return {};
}

std::string_view trimmed_left(std::string_view line) {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    return line;
}

bool is_environment_file(const std::string& path) {
    const std::string name = fs::path(path).filename();
    return name == ".env" || name.ends_with(".env");
}

Result<KeyValues> read_directory(const std::string& path, const std::vector<std::string>& names,
                                 const SourceReader& reader) {
    KeyValues all;
    for (const std::string& name : names) {
        TRY(std::string text, reader.file(path + "/" + name));
        TRY_VOID(add_key(all, name, std::move(text)));
    }
    if (all.empty()) return Error(Code::kInvalid, fmt::format("there is no file in {}", path));
    return all;
}

bool refers(manifest::Document& document, const FileObject& object) {
    for (const manifest::PodSpecRef& pod : manifest::pod_specs(document))
        for (const ObjectReference& reference : all_object_references(pod))
            if (reference.kind == object.kind && reference.name == object.name) return true;
    return false;
}

std::string space_of(const manifest::Document& document) {
    const json::object* root = document.object.if_object();
    const std::string_view space =
        root == nullptr ? std::string_view()
                        : kube::string_at(kube::child(*root, "metadata"), "namespace");
    return std::string(space.empty() ? "default" : space);
}

bool is_itself(const manifest::Document& document, const FileObject& object) {
    const json::object* root = document.object.if_object();
    return root != nullptr && kube::string_at(*root, "kind") == object.kind &&
           kube::string_at(kube::child(*root, "metadata"), "name") == object.name;
}

json::object made(const FileObject& object, const std::string& space, const KeyValues& data) {
    json::object values;
    json::object binary;
    for (const auto& [key, value] : data) {
        if (object.kind == "Secret")
            values[key] = kube::base64_encode(value);
        else if (manifest::find_bad_byte(value))
            binary[key] = kube::base64_encode(value);
        else
            values[key] = value;
    }
    json::object whole{{"apiVersion", "v1"},
                       {"kind", object.kind},
                       {"metadata", json::object{{"name", object.name}, {"namespace", space}}}};
    if (object.kind == "Secret") whole["type"] = "Opaque";
    if (!values.empty()) whole["data"] = std::move(values);
    if (!binary.empty()) whole["binaryData"] = std::move(binary);
    return whole;
}

}  // namespace

std::string FileObject::flag() const {
    // The source may be a value that is not to be shown.
    const bool literal = source.find('=') != std::string::npos;
    return fmt::format("--{} {}={}", kind == "Secret" ? "secret" : "config", name,
                       literal ? source.substr(0, source.find('=')) + "=..." : source);
}

SourceReader read_sources_below(std::string working_dir,
                                std::function<std::string(const std::string&)> variable) {
    const auto absolute = [working_dir = std::move(working_dir)](const std::string& path) {
        return (fs::path(working_dir) / path).string();
    };
    return {.file =
                [absolute](const std::string& path) {
                    return path == "-" ? manifest::read_file(path)
                                       : manifest::read_file(absolute(path));
                },
            .directory =
                [absolute](const std::string& path) -> std::optional<std::vector<std::string>> {
                std::error_code failed;
                if (!fs::is_directory(absolute(path), failed)) return std::nullopt;
                std::vector<std::string> names;
                for (fs::directory_iterator at(absolute(path), failed), end; !failed && at != end;
                     at.increment(failed))
                    if (std::error_code ignored; at->is_regular_file(ignored))
                        names.push_back(at->path().filename());
                std::ranges::sort(names);
                return names;
            },
            .variable = std::move(variable)};
}

Result<KeyValues> read_variables(std::string_view text,
                                 const std::function<std::string(const std::string&)>& variable) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    KeyValues all;
    int number = 0;
    while (!text.empty()) {
        ++number;
        std::string_view line = take_field(text, '\n');
        if (line.ends_with('\r')) line.remove_suffix(1);
        line = trimmed_left(line);
        if (line.empty() || line.front() == '#') continue;
        const std::size_t equals = line.find('=');
        const std::string key(line.substr(0, equals));
        if (!is_key(key))
            return Error(Code::kInvalid,
                         fmt::format("line {}: \"{}\" is not a name of a variable", number, key));
        std::string value =
            equals == std::string_view::npos ? variable(key) : std::string(line.substr(equals + 1));
        if (equals == std::string_view::npos && value.empty()) continue;
        all.insert_or_assign(key, std::move(value));
    }
    return all;
}

Result<KeyValues> read_source(const std::string& source, const SourceReader& reader) {
    KeyValues all;
    if (const std::size_t equals = source.find('='); equals != std::string::npos) {
        const std::string key = source.substr(0, equals);
        std::string value = source.substr(equals + 1);
        if (value.starts_with('@')) {
            TRY(value, reader.file(value.substr(1)));
        }
        TRY_VOID(add_key(all, key, std::move(value)));
        return all;
    }
    if (const auto names = reader.directory(source)) return read_directory(source, *names, reader);
    TRY(std::string text, reader.file(source));
    if (is_environment_file(source)) return read_variables(text, reader.variable);
    TRY_VOID(add_key(all, fs::path(source).filename(), std::move(text)));
    return all;
}

GatheredObjects gather_file_objects(const std::vector<FileObject>& objects,
                                    const SourceReader& reader) {
    GatheredObjects all;
    const auto refuse = [&](const FileObject& object, std::string message) {
        manifest::Problem& problem = all.problems.emplace_back();
        problem.source = object.flag();
        problem.message = std::move(message);
    };
    std::map<std::pair<std::string, std::string>, GatheredObject> by_name;
    for (const FileObject& object : objects) {
        Result<KeyValues> data = read_source(object.source, reader);
        if (!data) {
            refuse(object, data.error().message());
            continue;
        }
        GatheredObject& gathered = by_name[{object.kind, object.name}];
        if (gathered.first.name.empty()) gathered.first = object;
        for (auto& [key, value] : *data)
            if (Result<void> added = add_key(gathered.data, key, std::move(value)); !added)
                refuse(object, added.error().message());
    }
    for (auto& [id, gathered] : by_name) {
        std::size_t bytes = 0;
        for (const auto& [key, value] : gathered.data) bytes += key.size() + value.size();
        if (bytes <= kMostBytes)
            all.objects.push_back(std::move(gathered));
        else
            refuse(gathered.first,
                   fmt::format("it has {} bytes, and a {} may have {}: use --mount or --volume for "
                               "large files",
                               bytes, gathered.first.kind, kMostBytes));
    }
    return all;
}

std::vector<manifest::Problem> add_file_objects(std::vector<manifest::Document>& documents,
                                                const std::vector<FileObject>& objects,
                                                const SourceReader& reader) {
    auto [gathered, problems] = gather_file_objects(objects, reader);
    const auto refuse = [&](const FileObject& object, std::string message) {
        manifest::Problem& problem = problems.emplace_back();
        problem.source = object.flag();
        problem.message = std::move(message);
    };
    for (const GatheredObject& all : gathered) {
        std::set<std::string> wanted;
        std::set<std::string> there;
        for (manifest::Document& document : documents) {
            if (is_itself(document, all.first)) there.insert(space_of(document));
            if (refers(document, all.first)) wanted.insert(space_of(document));
        }
        if (wanted.empty())
            refuse(all.first, fmt::format("no pod of the manifest refers to a {} of that name",
                                          all.first.kind));
        for (const std::string& space : wanted) {
            if (there.contains(space)) {
                refuse(all.first, fmt::format("the manifest has this {} itself: leave one of them "
                                              "out",
                                              all.first.kind));
                continue;
            }
            manifest::Document document{.source = all.first.flag()};
            document.object = made(all.first, space, all.data);
            documents.push_back(std::move(document));
        }
    }
    return problems;
}

}  // namespace muster::cli
