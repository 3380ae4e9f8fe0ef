#include <fmt/format.h>

#include <boost/json/value.hpp>

#include "base/check.h"
#include "jobs/internal/schema_parts.h"
#include "jobs/internal/text.h"
#include "jobs/kind.h"

namespace muster::jobs {
namespace {

/// The schema of `.spec`, with the version's mark as the default of the field that distinguishes
/// versions.
kube::Schema::Ptr marked_spec(const JobKind& kind) {
    if (kind.version_field.empty()) return kind.spec_schema;
    auto spec = std::make_shared<kube::Schema>(*kind.spec_schema);
    const auto field = spec->properties.find(kind.version_field);
    CHECK(field != spec->properties.end(), "the field that tells versions apart is in the schema");
    auto marked = std::make_shared<kube::Schema>(*field->second);
    marked->default_value = json::string(kind.version_mark);
    spec->properties.insert_or_assign(kind.version_field, std::move(marked));
    return spec;
}

kube::Schema::Ptr described(const kube::Schema::Ptr& schema, std::string text) {
    auto copy = std::make_shared<kube::Schema>(*schema);
    copy->description = std::move(text);
    return copy;
}

std::shared_ptr<kube::Schema> root_schema(const JobKind& kind, kube::Schema::Ptr metadata) {
    static const kube::Schema::Ptr text = schema_parts::scalar(kube::Schema::Type::kString);
    static const kube::Schema::Ptr api_version =
        described(text, "Group and version in which the object is written.");
    static const kube::Schema::Ptr kind_name = described(text, "What the object is.");
    const kube::Schema::Ptr status = described(status_schema(kind.status_form, kind.rising_ids),
                                               "What has become of it; written by the operator.");
    auto root = std::make_shared<kube::Schema>();
    root->type = kube::Schema::Type::kObject;
    root->description = fmt::format("A {} that the operator runs.", kind.resource.kind);
    root->properties = {{"apiVersion", api_version},
                        {"kind", kind_name},
                        {"metadata", std::move(metadata)},
                        {"spec", described(marked_spec(kind), "What is wanted.")},
                        {"status", status}};
    return root;
}

json::object state_column(const JobKind& kind) {
    const bool phase = kind.status_form == StatusForm::kDlrover;
    return {{"name", phase ? "Phase" : "State"},
            {"type", "string"},
            {"jsonPath", phase ? ".status.phase" : ".status.conditions[-1:].type"}};
}

json::object crd_version(const JobKind& kind, bool storage) {
    auto metadata = std::make_shared<kube::Schema>();
    metadata->type = kube::Schema::Type::kObject;
    const auto schema = root_schema(kind, std::move(metadata));

    json::object subresources{{"status", json::object()}};
    if (!kind.scaled_type.empty())
        subresources["scale"] = {
            {"specReplicasPath",
             fmt::format(".spec.{}.{}.replicas", kind.replicas_field, kind.scaled_type)},
            {"statusReplicasPath",
             fmt::format(".status.replicaStatuses.{}.active", kind.scaled_type)},
            {"labelSelectorPath",
             fmt::format(".status.replicaStatuses.{}.selector", kind.scaled_type)}};
    return {{"name", kind.resource.version},
            {"served", true},
            {"storage", storage},
            {"additionalPrinterColumns",
             json::array{state_column(kind),
                         json::object{{"name", "Age"},
                                      {"type", "date"},
                                      {"jsonPath", ".metadata.creationTimestamp"}}}},
            {"schema", json::object{{"openAPIV3Schema", schema->to_openapi()}}},
            {"subresources", std::move(subresources)}};
}

}  // namespace

kube::Schema::Ptr object_schema(const JobKind& kind) {
    return root_schema(kind, kube::core_schema("ObjectMeta"));
}

json::value custom_resource_definition(const JobKind& kind) {
    const JobKind* const only = &kind;
    return custom_resource_definition({&only, 1});
}

json::value custom_resource_definition(std::span<const JobKind* const> versions) {
    const kube::ResourceType& resource = versions.front()->resource;
    json::array all;
    for (const JobKind* kind : versions)
        all.push_back(crd_version(*kind, kind == versions.front()));
    return json::object{
        {"apiVersion", "apiextensions.k8s.io/v1"},
        {"kind", "CustomResourceDefinition"},
        {"metadata", json::object{{"name", resource.qualified()}}},
        {"spec", json::object{{"group", resource.group},
                              {"names", json::object{{"kind", resource.kind},
                                                     {"listKind", resource.kind + "List"},
                                                     {"plural", resource.plural},
                                                     {"singular", lower_case(resource.kind)}}},
                              {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
                              {"versions", std::move(all)}}}};
}

std::vector<std::vector<const JobKind*>> kinds_by_resource(std::span<const JobKind* const> kinds) {
    std::vector<std::vector<const JobKind*>> resources;
    for (const JobKind* kind : kinds) {
        auto same = std::ranges::find_if(resources, [&](const auto& versions) {
            return versions.front()->resource.qualified() == kind->resource.qualified();
        });
        if (same == resources.end())
            resources.push_back({kind});
        else
            same->push_back(kind);
    }
    return resources;
}

std::vector<json::value> custom_resource_definitions(std::span<const JobKind* const> kinds) {
    std::vector<json::value> result;
    for (const auto& versions : kinds_by_resource(kinds))
        result.push_back(custom_resource_definition(versions));
    return result;
}

}  // namespace muster::jobs
