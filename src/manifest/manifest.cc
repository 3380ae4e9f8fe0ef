#include "manifest/manifest.h"

#include <fmt/format.h>

#include <iterator>

#include "manifest/yaml/yaml_document.h"
#include "manifest/yaml/yaml_text.h"

namespace muster::manifest {

namespace {

/// The flag that set this field or something around it, or "".
std::string overriding_flag(const Document& document, std::string_view field) {
    std::size_t longest = 0;
    std::string flag;
    for (const auto& [path, name] : document.overrides) {
        if (path.size() < longest || !field.starts_with(path)) continue;
        std::string_view after = field.substr(path.size());
        if (!after.empty() && after.front() != '.' && after.front() != '[') continue;
        longest = path.size();
        flag = name;
    }
    return flag;
}

Problem locate_problem(const Document& document, Severity severity, std::string field,
                       std::string message, bool at_key) {
    Problem problem{.severity = severity, .source = overriding_flag(document, field)};
    if (problem.source.empty()) {
        problem.source = document.source;
        field = jobs::origin_of(document.origins, field);
        problem.place =
            at_key ? place_of_key(document.places, field) : place_of(document.places, field);
    }
    problem.field = document.prefix;
    if (!problem.field.empty() && !field.empty() && field.front() != '[') problem.field += '.';
    problem.field += field;
    problem.message = std::move(message);
    return problem;
}

bool is_list(const json::value& object) {
    if (!object.is_object()) return false;
    const json::value* kind = object.get_object().if_contains("kind");
    const json::value* items = object.get_object().if_contains("items");
    return kind != nullptr && kind->is_string() && kind->get_string().ends_with("List") &&
           items != nullptr && items->is_array();
}

/// An object, or the items of a List, nested Lists too.
void take_apart(Document document, std::vector<Document>& out) {
    if (!is_list(document.object)) {
        out.push_back(std::move(document));
        return;
    }
    std::size_t index = 0;
    SourcePtr items = locate(document.places, "items").node;
    for (json::value& item : document.object.get_object()["items"].get_array()) {
        Document part{.source = document.source};
        part.prefix = document.prefix + (document.prefix.empty() ? "" : ".") +
                      fmt::format("items[{}]", index);
        part.places = items->children[index++].node;
        part.object = std::move(item);
        take_apart(std::move(part), out);
    }
}

}  // namespace

Problem Document::problem(Severity severity, std::string field, std::string message) const {
    return locate_problem(*this, severity, std::move(field), std::move(message), false);
}
Problem Document::key_problem(Severity severity, std::string field, std::string message) const {
    return locate_problem(*this, severity, std::move(field), std::move(message), true);
}

Manifest read_manifest(std::string_view text, std::string source) {
    Manifest manifest;
    auto refuse = [&](Place place, std::string message) {
        manifest.problems.push_back(
            {.source = source, .place = place, .message = std::move(message)});
    };
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    LineIndex lines(text);
    if (text.size() > kMaxStreamBytes) {
        refuse(lines.at(kMaxStreamBytes),
               fmt::format("the manifest has {} bytes, the limit is {}; split it", text.size(),
                           kMaxStreamBytes));
        return manifest;
    }
    if (auto bad = find_bad_byte(text)) {
        refuse(lines.at(bad->offset), bad->what);
        return manifest;
    }
    for (TextSpan span : split_documents(text)) {
        if (span.end - span.begin > kMaxManifestBytes) {
            refuse(
                lines.at(span.begin + kMaxManifestBytes),
                fmt::format("this object has {} bytes, the limit is {} (what a cluster stores of "
                            "one); move data into files that the job reads",
                            span.end - span.begin, kMaxManifestBytes));
            continue;
        }
        YamlDocument parsed =
            parse_yaml_document(text.substr(span.begin, span.end - span.begin), span.begin, lines);
        for (YamlProblem& problem : parsed.problems)
            refuse(problem.place, std::move(problem.message));
        if (!parsed.problems.empty() || !parsed.places || parsed.value.is_null()) continue;
        take_apart({.source = source,
                    .object = std::move(parsed.value),
                    .places = std::move(parsed.places)},
                   manifest.documents);
    }
    if (manifest.documents.empty() && manifest.problems.empty())
        refuse({1, 1}, "the manifest is empty; it needs at least one object, such as a PyTorchJob");
    return manifest;
}

}  // namespace muster::manifest
