#include "apiserver_http/internal/discovery/openapi_schemas.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <set>

#include "apiserver_http/field_descriptions.h"

namespace muster::apiserver_http {

namespace {

constexpr std::string_view kMetaPackage = "io.k8s.apimachinery.pkg.apis.meta.v1";
constexpr std::string_view kCorePackage = "io.k8s.api.core.v1";
constexpr std::string_view kIntOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
constexpr std::string_view kQuantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
constexpr std::string_view kListMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

constexpr std::string_view kMetaStructs[] = {
    "ObjectMeta",    "OwnerReference",           "ManagedFieldsEntry",
    "LabelSelector", "LabelSelectorRequirement", "Condition"};

/// The fields of every object.
constexpr std::pair<std::string_view, std::string_view> kCommonFields[] = {
    {"apiVersion", "The version of the API in which the object is written."},
    {"kind", "What the object is."},
    {"metadata", "Name, labels and the like."}};

void collect_structs(const kube::Schema& schema, std::set<std::string_view>& names) {
    if (const std::string_view name = kube::core_schema_name(schema); !name.empty())
        if (!names.insert(name).second) return;
    for (const auto& [key, property] : schema.properties) collect_structs(*property, names);
    if (schema.items) collect_structs(*schema.items, names);
    if (schema.additional) collect_structs(*schema.additional, names);
}

/// Whether it is a structure of the core group's kinds: these keep the core group's names when
/// other groups use them.
bool is_core_struct(std::string_view name) {
    static const std::set<std::string_view> kNames = [] {
        std::set<std::string_view> names;
        for (const char* kind :
             {"Pod", "PodTemplateSpec", "Service", "ConfigMap", "Secret", "PersistentVolume",
              "PersistentVolumeClaim", "PodTemplate", "ReplicationController", "ResourceQuota",
              "LimitRange", "Endpoints", "Event", "Namespace", "Node", "ServiceAccount"})
            collect_structs(*kube::core_schema(kind), names);
        return names;
    }();
    return kNames.contains(name);
}

/// "io.k8s.api.coordination.v1" for coordination.k8s.io/v1, "org.kubeflow.v1" for kubeflow.org/v1.
std::string package_of(const apiserver::ResourceDef& def) {
    const std::string& group = def.type.group;
    if (group.empty()) return std::string(kCorePackage);
    const std::string first = group.substr(0, group.find('.'));
    if (group == "apiextensions.k8s.io")
        return fmt::format("io.k8s.apiextensions-apiserver.pkg.apis.{}.{}", first,
                           def.type.version);
    if (!def.custom) return fmt::format("io.k8s.api.{}.{}", first, def.type.version);
    std::string reversed;
    std::size_t end = group.size();
    while (true) {
        const std::size_t dot = group.rfind('.', end - 1);
        reversed += group.substr(dot == std::string::npos ? 0 : dot + 1,
                                 end - (dot == std::string::npos ? 0 : dot + 1));
        reversed += '.';
        if (dot == std::string::npos || dot == 0) break;
        end = dot;
    }
    return reversed + def.type.version;
}

json::array kinds_of(const apiserver::ResourceDef& def, std::string_view kind) {
    return {json::object{{"group", def.type.group}, {"version", def.type.version}, {"kind", kind}}};
}

/// References have no siblings in OpenAPI 3.0, so a field's additions are next to `allOf`.
json::object reference(std::string_view name) {
    return {{"allOf", json::array{json::object{{"$ref", component_path(name)}}}}};
}

}  // namespace

std::string component_path(std::string_view name) {
    return fmt::format("#/components/schemas/{}", name);
}

std::string component_name(const apiserver::ResourceDef& def, std::string_view kind) {
    return fmt::format("{}.{}", package_of(def), kind);
}

void SchemaComponents::add(const apiserver::ResourceDef& def) {
    components_.emplace(
        kPatchComponent,
        json::object{{"description", "A patch, of the form that its media type says."},
                     {"type", "object"}});
    components_.emplace(
        kListMeta,
        json::object{{"description", "What a list says of itself."},
                     {"type", "object"},
                     {"properties",
                      {{"continue", {{"type", "string"}}},
                       {"remainingItemCount", {{"type", "integer"}, {"format", "int64"}}},
                       {"resourceVersion", {{"type", "string"}}},
                       {"selfLink", {{"type", "string"}}}}}});
    const std::string name = component_name(def, def.type.kind);
    json::object schema = write_part(def, *def.schema);
    schema["x-kubernetes-group-version-kind"] = kinds_of(def, def.type.kind);
    for (const auto& [field, text] : kCommonFields)
        if (json::value* properties = schema.if_contains("properties"))
            if (json::value* property = properties->get_object().if_contains(field))
                property->get_object().insert_or_assign("description", text);
    components_[name] = std::move(schema);
    components_[component_name(def, def.list_kind)] = {
        {"description", fmt::format("A list of {} objects.", def.type.kind)},
        {"type", "object"},
        {"required", json::array{"items"}},
        {"properties",
         {{"apiVersion", {{"type", "string"}}},
          {"kind", {{"type", "string"}}},
          {"metadata", reference(kListMeta)},
          {"items", {{"type", "array"}, {"items", reference(name)}}}}},
        {"x-kubernetes-group-version-kind", kinds_of(def, def.list_kind)}};
}

std::string SchemaComponents::shared_name(const apiserver::ResourceDef& def,
                                          const kube::Schema& schema) {
    const bool has_default = !schema.default_value.is_null();
    if (!def.custom && schema.type == kube::Schema::Type::kIntOrString && !has_default) {
        const bool quantity = schema.format == "quantity";
        const std::string name(quantity ? kQuantity : kIntOrString);
        if (!components_.contains(name))
            components_[name] = {
                {"oneOf", json::array{json::object{{"type", "string"}},
                                      json::object{{"type", quantity ? "number" : "integer"}}}}};
        return name;
    }
    const std::string_view structure = kube::core_schema_name(schema);
    if (structure.empty()) return {};
    const bool meta = std::ranges::find(kMetaStructs, structure) != std::end(kMetaStructs);
    std::string name = meta                        ? fmt::format("{}.{}", kMetaPackage, structure)
                       : is_core_struct(structure) ? fmt::format("{}.{}", kCorePackage, structure)
                                                   : component_name(def, structure);
    if (!components_.contains(name)) {
        components_[name] = nullptr;  // taken
        components_[name] = write_part(def, schema);
    }
    return name;
}

json::object SchemaComponents::write(const apiserver::ResourceDef& def,
                                     const kube::Schema& schema) {
    if (const std::string name = shared_name(def, schema); !name.empty()) return reference(name);
    return write_part(def, schema);
}

json::object SchemaComponents::write_part(const apiserver::ResourceDef& def,
                                          const kube::Schema& schema) {
    kube::Schema own = schema;
    own.properties = {};
    own.items = nullptr;
    own.additional = nullptr;
    json::object out = own.to_openapi().get_object();
    const std::string_view structure = kube::core_schema_name(schema);
    if (const std::string_view text = description_of(structure); !text.empty())
        out["description"] = text;
    if (!schema.properties.empty()) {
        json::object properties;
        for (const auto& [name, property] : schema.properties) {
            json::object field = write(def, *property);
            if (const std::string_view text = description_of(structure, name); !text.empty())
                field["description"] = text;
            properties.emplace(name, std::move(field));
        }
        out["properties"] = std::move(properties);
    }
    if (schema.items) out["items"] = write(def, *schema.items);
    if (schema.additional) out["additionalProperties"] = write(def, *schema.additional);
    if (def.custom) return out;
    std::string strategy = schema.patch_retain_keys ? "retainKeys" : "";
    if (!schema.patch_merge_key.empty() || schema.patch_merge_primitive)
        strategy = strategy.empty() ? "merge" : "merge,retainKeys";
    if (!strategy.empty()) out["x-kubernetes-patch-strategy"] = strategy;
    if (!schema.patch_merge_key.empty())
        out["x-kubernetes-patch-merge-key"] = schema.patch_merge_key;
    return out;
}

}  // namespace muster::apiserver_http
