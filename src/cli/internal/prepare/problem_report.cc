#include "cli/internal/prepare/problem_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::cli {

namespace {

using manifest::Problem;
using manifest::Severity;

constexpr const char* kRule = "manifest";
constexpr const char* kSarifSchema = "https://json.schemastore.org/sarif-2.1.0.json";
constexpr const char* kHelp =
    "A manifest that a cluster or this machine would refuse, that could not start, or that would "
    "not do what it says.";

bool has_place(const Problem& problem) { return problem.place.line > 0; }

json::string text_of(std::string_view text) { return json::string(text); }

json::object problem_object(const Problem& problem) {
    json::object made{{"severity", manifest::severity_name(problem.severity)},
                      {"source", problem.source}};
    if (has_place(problem)) {
        made["line"] = problem.place.line;
        made["column"] = problem.place.column;
    }
    if (!problem.field.empty()) made["field"] = problem.field;
    made["message"] = problem.message;
    return made;
}

json::object object_of(const manifest::CheckedObject& checked) {
    json::object made{{"source", checked.document.source},
                      {"apiVersion", checked.type.api_version()},
                      {"kind", checked.type.kind}};
    if (!checked.namespace_.empty()) made["namespace"] = checked.namespace_;
    if (!checked.name.empty()) made["name"] = checked.name;
    if (checked.job) {
        if (checked.name.empty()) made["generateName"] = checked.job->metadata.generate_name;
        made["pods"] = checked.job->total_replicas();
    }
    return made;
}

json::object result_of(const Problem& problem) {
    // A person sees the field beside the line, but a review shows only the message.
    const std::string message =
        problem.field.empty() ? problem.message : problem.field + ": " + problem.message;
    json::object location;
    if (has_place(problem) && problem.source != "-")
        location["physicalLocation"] = json::object{
            {"artifactLocation", json::object{{"uri", uri_of(problem.source)}}},
            {"region", json::object{{"startLine", problem.place.line},
                                    {"startColumn", std::max(problem.place.column, 1)}}}};
    const std::string& logical = problem.field.empty() ? problem.source : problem.field;
    location["logicalLocations"] = json::array{json::object{{"fullyQualifiedName", logical}}};
    return {{"ruleId", kRule},
            {"ruleIndex", 0},
            {"level", manifest::severity_name(problem.severity)},
            {"message", json::object{{"text", text_of(message)}}},
            {"locations", json::array{std::move(location)}}};
}

}  // namespace

std::string uri_of(std::string_view path) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/!$&'()*+,;=@";
    std::string uri = path.starts_with('/') ? "file://" : "";
    for (const char c : path)
        if (kPlain.find(c) != std::string_view::npos)
            uri += c;
        else
            uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    return uri;
}

json::object report_of(const Prepared& prepared, const std::vector<Problem>& problems) {
    json::array found;
    for (const Problem& problem : problems) found.push_back(problem_object(problem));
    json::array objects;
    for (const manifest::CheckedObject& checked : prepared.objects)
        objects.push_back(object_of(checked));
    json::array notes;
    for (const std::string& notice : prepared.notices) notes.emplace_back(notice);
    const auto count = [&](Severity severity) {
        return std::ranges::count(problems, severity, &Problem::severity);
    };
    return {{"valid", !manifest::has_errors(problems)},
            {"errors", count(Severity::kError)},
            {"warnings", count(Severity::kWarning)},
            {"problems", std::move(found)},
            {"objects", std::move(objects)},
            {"notes", std::move(notes)}};
}

json::object sarif_of(const std::vector<Problem>& problems, std::string_view version) {
    json::array results;
    for (const Problem& problem : problems) results.push_back(result_of(problem));
    const json::object rule{
        {"id", kRule},
        {"name", "ManifestCheck"},
        {"shortDescription", json::object{{"text", "A manifest and its fields"}}},
        {"fullDescription", json::object{{"text", kHelp}}}};
    const json::object driver{
        {"name", "muster validate"}, {"version", text_of(version)}, {"rules", json::array{rule}}};
    const json::object run{{"tool", json::object{{"driver", driver}}},
                           {"columnKind", "unicodeCodePoints"},
                           {"results", std::move(results)}};
    return {{"$schema", kSarifSchema}, {"version", "2.1.0"}, {"runs", json::array{run}}};
}

}  // namespace muster::cli
