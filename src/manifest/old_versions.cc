#include "manifest/old_versions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/lower_case.h"
#include "jobs/kind.h"
#include "kube/values/json_access.h"

namespace muster::manifest {

namespace {

std::string text_of(const Document& document, std::string_view key) {
    const json::object* object = document.object.if_object();
    return object == nullptr ? std::string() : std::string(kube::string_at(*object, key));
}

/// Converts it, or reports why that is impossible; true for the former.
bool convert_in_place(Document& document, const std::string& api_version,
                      std::vector<Problem>& problems) {
    jobs::Conversion done = jobs::convert(document.object, api_version);
    for (const Cause& cause : done.problems)
        problems.push_back(document.problem(Severity::kError, cause.field, cause.message));
    if (!done.problems.empty()) return false;
    for (const Cause& cause : done.changes)
        problems.push_back(document.problem(Severity::kWarning, cause.field, cause.message));
    document.object = std::move(done.object);
    document.origins = std::move(done.origins);
    return true;
}

/// "pytorchjob", "PyTorchJobs" and "PyTorchJob" mean the same.
bool is_called(const std::string& kind, const std::string& word) {
    const std::string lower = lower_case(kind);
    return word.empty() || lower_case(word) == lower || lower_case(word) == lower + "s";
}

}  // namespace

void read_old_versions(std::vector<Document>& documents, std::vector<Problem>& problems) {
    std::erase_if(documents, [&](Document& document) {
        const jobs::OldVersion* old =
            jobs::find_old_version(text_of(document, "apiVersion"), text_of(document, "kind"));
        if (old == nullptr) return false;
        const std::string served = old->becomes->resource.api_version();
        problems.push_back(
            document.problem(Severity::kWarning, "apiVersion",
                             fmt::format("{} is read as {}; 'muster convert' rewrites the manifest",
                                         old->api_version, served)));
        return !convert_in_place(document, served, problems);
    });
}

bool convert_document(Document& document, const std::string& kind, const std::string& version,
                      std::vector<Problem>& problems) {
    const std::string own_kind = text_of(document, "kind");
    const std::vector<std::string> versions = jobs::versions_of(own_kind);
    if (!is_called(own_kind, kind)) return false;
    if (versions.empty()) return true;
    const std::string from = text_of(document, "apiVersion");
    const std::string to = version.empty() ? versions.front() : "kubeflow.org/" + version;
    for (const std::string& wanted : {from, to}) {
        if (std::ranges::find(versions, wanted) != versions.end()) continue;
        problems.push_back(
            document.problem(Severity::kError, "apiVersion",
                             fmt::format("{} has no version \"{}\"; there are {}", own_kind, wanted,
                                         fmt::join(versions, ", "))));
        return true;
    }
    convert_in_place(document, to, problems);
    return true;
}

}  // namespace muster::manifest
