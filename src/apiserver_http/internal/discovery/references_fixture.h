#pragma once

#include <boost/json/value.hpp>
#include <set>
#include <string>

#include "kube/values/json.h"

namespace muster::apiserver_http {

/// The references of a document, at any depth: the values of its `$ref`.
inline void collect_references(const json::value& value, std::set<std::string>& names) {
    if (const json::object* object = value.if_object())
        for (const auto& [key, field] : *object) {
            if (key == "$ref" && field.is_string()) names.emplace(field.get_string());
            collect_references(field, names);
        }
    if (const json::array* list = value.if_array())
        for (const json::value& item : *list) collect_references(item, names);
}

}  // namespace muster::apiserver_http
