#pragma once

#include <boost/json/value.hpp>
#include <initializer_list>
#include <string_view>

#include "kube/values/json.h"

namespace muster::sim {

// What objects of the API say, without building anything. Views live as long as the object.

/// What stands there, or null.
inline const json::value* find_at(const json::value& object,
                                  std::initializer_list<std::string_view> path) {
    const json::value* found = &object;
    for (const std::string_view key : path) {
        const json::object* inner = found->if_object();
        found = inner == nullptr ? nullptr : inner->if_contains(key);
        if (found == nullptr) return nullptr;
    }
    return found;
}

/// The text there, or "".
inline std::string_view text_at(const json::value& object,
                                std::initializer_list<std::string_view> path) {
    const json::value* found = find_at(object, path);
    const json::string* text = found == nullptr ? nullptr : found->if_string();
    return text == nullptr ? std::string_view() : std::string_view(*text);
}

/// The whole number there, or `otherwise`.
inline std::int64_t number_at(const json::value& object,
                              std::initializer_list<std::string_view> path,
                              std::int64_t otherwise = 0) {
    const json::value* found = find_at(object, path);
    if (found != nullptr && found->is_int64()) return found->get_int64();
    if (found != nullptr && found->is_uint64())
        return static_cast<std::int64_t>(found->get_uint64());
    return otherwise;
}

/// The reference to the object that controls this one, or null.
inline const json::value* controller_of(const json::value& object) {
    const json::value* const owners = find_at(object, {"metadata", "ownerReferences"});
    if (owners == nullptr || !owners->is_array()) return nullptr;
    for (const json::value& owner : owners->get_array()) {
        const json::value* const controls = find_at(owner, {"controller"});
        if (controls != nullptr && *controls == true) return &owner;
    }
    return nullptr;
}

/// Its uid, or "".
inline std::string_view controller_uid(const json::value& object) {
    const json::value* const owner = controller_of(object);
    return owner == nullptr ? std::string_view() : text_at(*owner, {"uid"});
}

inline std::string_view label_of(const json::value& object, std::string_view key) {
    return text_at(object, {"metadata", "labels", key});
}

/// The status of a condition of this type, or "".
inline std::string_view condition_of(const json::value& object, std::string_view type) {
    const json::value* found = find_at(object, {"status", "conditions"});
    if (found == nullptr || !found->is_array()) return {};
    for (const json::value& condition : found->get_array())
        if (text_at(condition, {"type"}) == type) return text_at(condition, {"status"});
    return {};
}

/// How often the containers of a pod were started again, all together.
inline std::int64_t restarts_of(const json::value& pod) {
    std::int64_t sum = 0;
    for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
        const json::value* statuses = find_at(pod, {"status", list});
        if (statuses == nullptr || !statuses->is_array()) continue;
        for (const json::value& status : statuses->get_array())
            sum += number_at(status, {"restartCount"});
    }
    return sum;
}

/// The exit code of a container that failed; 0 if there is none.
inline std::int64_t failed_with(const json::value& pod) {
    const json::value* const statuses = find_at(pod, {"status", "containerStatuses"});
    if (statuses == nullptr || !statuses->is_array()) return 0;
    for (const json::value& status : statuses->get_array())
        if (const std::int64_t code = number_at(status, {"state", "terminated", "exitCode"}))
            return code;
    return 0;
}

inline bool pod_ended(const json::value& pod) {
    const std::string_view phase = text_at(pod, {"status", "phase"});
    return phase == "Succeeded" || phase == "Failed";
}

inline bool deleting(const json::value& object) {
    return find_at(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

}  // namespace muster::sim
