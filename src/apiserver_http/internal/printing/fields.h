#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string_view>
#include <vector>

#include "apiserver_http/internal/json_access.h"

namespace muster::apiserver_http {

// Reads for cells: a missing value reads as empty.

/// Whether status.conditions has a true condition of that type.
inline bool has_true_condition(const json::object& status, std::string_view type) {
    for (const json::object* condition : objects_at(status, "conditions"))
        if (string_at(*condition, "type") == type) return string_at(*condition, "status") == "True";
    return false;
}

inline std::int64_t number_at(const json::object& parent, std::string_view key) {
    return int_at(parent, key).value_or(0);
}

}  // namespace muster::apiserver_http
