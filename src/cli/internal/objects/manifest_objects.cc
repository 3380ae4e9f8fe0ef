#include "cli/internal/objects/manifest_objects.h"

#include <fmt/format.h>

#include "kube/values/json_access.h"
#include "manifest/known_kinds.h"

namespace muster::cli {

DocumentIdentity identity_of(const manifest::Document& document) {
    const json::object* object = document.object.if_object();
    if (object == nullptr) return {};
    return {.api_version = std::string(kube::string_at(*object, "apiVersion")),
            .kind = std::string(kube::string_at(*object, "kind")),
            .name = std::string(kube::name_of(*object)),
            .namespace_ = std::string(kube::namespace_of(*object))};
}

std::vector<manifest::Problem> check_identity(const manifest::Document& document) {
    const DocumentIdentity identity = identity_of(document);
    std::vector<manifest::Problem> problems;
    const auto require = [&](const std::string& text, const char* field, const char* message) {
        if (text.empty())
            problems.push_back(document.problem(manifest::Severity::kError, field, message));
    };
    constexpr const char* kMissing =
        "is missing or not a string: an object is named by its apiVersion, kind and name";
    const json::object* object = document.object.if_object();
    const bool generated =
        object != nullptr &&
        !kube::string_at(kube::child(*object, "metadata"), "generateName").empty();
    require(identity.api_version, "apiVersion", kMissing);
    require(identity.kind, "kind", kMissing);
    require(identity.name, "metadata.name",
            generated ? "is missing: generateName means a new object each time, and this is about "
                        "one that is named. Give it a name, or create it with 'kubectl create -f' "
                        "or 'muster run'"
                      : kMissing);
    return problems;
}

std::expected<ManifestObject, manifest::Problem> place_object(
    manifest::Document document, const ResourceCatalog& catalog,
    const std::string& default_namespace) {
    DocumentIdentity identity = identity_of(document);
    const ApiResource* resource = catalog.find_kind(identity.api_version, identity.kind);
    if (resource == nullptr) {
        std::vector<std::string> versions;
        for (const ApiResource& other : catalog.all())
            if (other.type.kind == identity.kind) versions.push_back(other.type.api_version());
        return std::unexpected(document.problem(
            manifest::Severity::kError, versions.empty() ? "kind" : "apiVersion",
            versions.empty()
                ? fmt::format("the server has no {} of {}; its definition may be missing there",
                              identity.kind, identity.api_version)
                : fmt::format("the server has {} in {}", identity.kind,
                              fmt::join(versions, ", "))));
    }
    ManifestObject placed{
        .document = std::move(document),
        .type = resource->type,
        .shown = fmt::format("{}/{}", resource->qualified_singular(), identity.name),
        .namespace_ = {},
        .name = std::move(identity.name)};
    if (placed.type.namespaced)
        placed.namespace_ =
            identity.namespace_.empty() ? default_namespace : std::move(identity.namespace_);
    return placed;
}

}  // namespace muster::cli
