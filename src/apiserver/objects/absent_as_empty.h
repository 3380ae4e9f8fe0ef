#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

/// The object at the key; an empty one when there is none.
inline const json::object& child(const json::object& parent, std::string_view key) {
    static const json::object kNone;
    const json::object* found = object_at(parent, key);
    return found == nullptr ? kNone : *found;
}

}  // namespace muster::apiserver
