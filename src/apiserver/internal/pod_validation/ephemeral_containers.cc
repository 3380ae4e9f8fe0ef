#include "apiserver/internal/pod_validation/ephemeral_containers.h"

#include <fmt/format.h>

#include <map>

#include "apiserver/objects/json_access.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kNotHere = "cannot be set for an Ephemeral Container";
constexpr std::string_view kMirror = "kubernetes.io/config.mirror";

/// Defaults write an empty `resources`.
bool is_set(const json::value* value) {
    if (value == nullptr || value->is_null()) return false;
    if (const json::array* array = value->if_array()) return !array->empty();
    const json::object* object = value->if_object();
    if (object == nullptr) return true;
    for (const auto& entry : *object)
        if (is_set(&entry.value())) return true;
    return false;
}

}  // namespace

void check_ephemeral_only(const json::object& container, const std::string& field,
                          FieldErrors& field_errors) {
    if (is_set(container.if_contains("ports")))
        field_errors.push_back(forbidden_field(field + ".ports", kNotHere));
    if (is_set(container.if_contains("resources")))
        field_errors.push_back(forbidden_field(field + ".resources", kNotHere));
    for (const char* key : {"resizePolicy", "restartPolicy"})
        if (is_set(container.if_contains(key)))
            field_errors.push_back(forbidden_field(fmt::format("{}.{}", field, key), kNotHere));
    // A pointer that is set counts, whatever it points to.
    for (const char* key : {"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"})
        if (const json::value* value = container.if_contains(key);
            value != nullptr && !value->is_null())
            field_errors.push_back(forbidden_field(fmt::format("{}.{}", field, key), kNotHere));
    const auto mounts = objects_at(container, "volumeMounts");
    for (std::size_t i = 0; i < mounts.size(); ++i)
        for (const char* key : {"subPath", "subPathExpr"})
            if (!string_at(*mounts[i], key).empty())
                field_errors.push_back(forbidden_field(
                    fmt::format("{}.volumeMounts[{}].{}", field, i, key), kNotHere));
}

void check_ephemeral_additions(const json::object& next, const json::object& stored,
                               FieldErrors& field_errors) {
    if (const json::object* annotations = object_at(metadata_of(stored), "annotations");
        annotations != nullptr && annotations->contains(kMirror)) {
        field_errors = {forbidden_field("[]", "static pods do not support ephemeral containers")};
        return;
    }
    std::map<std::string_view, const json::object*> by_name;
    for (const json::object* container : objects_at(child(next, "spec"), "ephemeralContainers"))
        by_name.insert_or_assign(string_at(*container, "name"), container);
    const auto refuse = [&](std::string_view name, std::string_view what) {
        field_errors.push_back(forbidden_field(
            "spec.ephemeralContainers",
            fmt::format("existing ephemeral containers \"{}\" may not be {}\n", name, what)));
    };
    for (const json::object* before : objects_at(child(stored, "spec"), "ephemeralContainers")) {
        const std::string_view name = string_at(*before, "name");
        const auto found = by_name.find(name);
        if (found == by_name.end())
            refuse(name, "removed");
        else if (!kube::equal(*found->second, *before))
            refuse(name, "changed");
    }
}

}  // namespace muster::apiserver
