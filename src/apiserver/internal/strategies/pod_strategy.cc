#include <algorithm>
#include <boost/json/serialize.hpp>
#include <map>
#include <string>
#include <unordered_set>

#include "apiserver/internal/pod_validation/ephemeral_containers.h"
#include "apiserver/internal/strategies/pod_defaults.h"
#include "apiserver/internal/strategies/pod_spec_validation.h"
#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

void validate_pod(const json::object& pod, FieldErrors& field_errors) {
    const json::object* spec = object_at(pod, "spec");
    if (spec == nullptr)
        field_errors.push_back(required("spec.containers"));
    else
        check_pod_spec(*spec, "spec", field_errors);
}

void validate_new_pod(const json::object& pod, FieldErrors& field_errors) {
    validate_pod(pod, field_errors);
    const json::object* spec = object_at(pod, "spec");
    if (spec == nullptr) return;
    if (const json::array* later = array_at(*spec, "ephemeralContainers");
        later != nullptr && !later->empty())
        field_errors.push_back(
            forbidden_field("spec.ephemeralContainers", "cannot be set on create"));
}

void take_images(json::object& next, const json::object& current, std::string_view key) {
    json::array* containers = array_at(next, key);
    const json::array* stored = array_at(current, key);
    if (containers == nullptr || stored == nullptr || containers->size() != stored->size()) return;
    for (std::size_t i = 0; i < stored->size(); ++i) {
        json::object* container = (*containers)[i].if_object();
        const json::object* before = (*stored)[i].if_object();
        if (container == nullptr || before == nullptr) continue;
        if (const json::value* image = before->if_contains("image")) (*container)["image"] = *image;
    }
}

/// One text for equal entries, whatever the order of their fields, which are scalars.
std::string entry_text(const json::value& entry) {
    const json::object* fields = entry.if_object();
    if (fields == nullptr) return json::serialize(entry);
    std::map<std::string_view, const json::value*> by_name;
    for (const auto& field : *fields) by_name.emplace(field.key(), &field.value());
    json::object ordered;
    for (const auto& [name, value] : by_name) ordered.emplace(name, *value);
    return json::serialize(ordered);
}

/// Whether each entry of one list is also in the other.
bool all_within(const json::object& spec, const json::object& other, std::string_view key) {
    const json::array* entries = array_at(spec, key);
    if (entries == nullptr) return true;
    // Both may be long.
    std::unordered_set<std::string> texts;
    if (const json::array* among = array_at(other, key))
        for (const json::value& entry : *among) texts.insert(entry_text(entry));
    return std::ranges::all_of(
        *entries, [&](const json::value& entry) { return texts.contains(entry_text(entry)); });
}

/// The priority that a pod has got, where an update leaves it out.
void keep_priority(json::object& next, const json::object& current) {
    const json::object& stored = child(current, "spec");
    json::object& spec = ensure_object(next, "spec");
    for (const char* key : {"priority", "preemptionPolicy"})
        if (const json::value* given = stored.if_contains(key)) set_default(spec, key, *given);
}

/// While a gate holds a pod, its placement may still be narrowed.
bool only_narrows_selector(const json::object& next, const json::object& current) {
    const json::object* before = object_at(current, "nodeSelector");
    const json::object* after = object_at(next, "nodeSelector");
    if (before == nullptr) return true;
    return std::ranges::all_of(*before, [&](const auto& kept) {
        const json::value* now = after == nullptr ? nullptr : after->if_contains(kept.key());
        return now != nullptr && *now == kept.value();
    });
}

void validate_pod_update(const json::object& next, const json::object& current,
                         FieldErrors& field_errors) {
    const json::object* before = object_at(current, "spec");
    const json::object* after = object_at(next, "spec");
    // What is stored may be of a time with fewer rules, and has to be able to end.
    if (before != nullptr && after != nullptr && kube::equal(*before, *after)) return;
    if (before == nullptr || after == nullptr) return;
    check_changeable_parts(*after, "spec", field_errors);
    json::object rest = *after;
    take_images(rest, *before, "containers");
    take_images(rest, *before, "initContainers");
    const auto keep = [&](std::string_view key) {
        if (const json::value* stored = before->if_contains(key))
            rest[key] = *stored;
        else
            rest.erase(key);
    };
    const auto old_deadline = int_at(*before, "activeDeadlineSeconds");
    const auto new_deadline = int_at(*after, "activeDeadlineSeconds");
    if (new_deadline && (!old_deadline || *new_deadline <= *old_deadline))
        keep("activeDeadlineSeconds");
    if (all_within(*before, *after, "tolerations")) keep("tolerations");
    if (all_within(*after, *before, "schedulingGates")) keep("schedulingGates");
    if (is_gated(*before) && only_narrows_selector(*after, *before)) keep("nodeSelector");
    if (int_at(*before, "terminationGracePeriodSeconds").value_or(0) < 0 &&
        int_at(*after, "terminationGracePeriodSeconds") == 1)
        keep("terminationGracePeriodSeconds");
    if (kube::equal(rest, *before)) return;
    field_errors.push_back(forbidden_field(
        "spec",
        "pod updates may not change fields other than "
        "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
        "`spec.tolerations` (only additions to existing tolerations),"
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
        "negative)"));
}

void validate_ephemeral(const json::object& next, const json::object& current,
                        FieldErrors& field_errors) {
    check_ephemeral_containers(child(next, "spec"), field_errors);
    check_ephemeral_additions(next, current, field_errors);
}

}  // namespace

Strategy pod_strategy() {
    return {.apply_defaults = set_pod_defaults,
            .prepare_create = prepare_pod,
            .prepare_update = keep_priority,
            .validate_create = validate_new_pod,
            .validate_update = validate_pod_update,
            .validate_ephemeral = validate_ephemeral};
}

}  // namespace muster::apiserver
