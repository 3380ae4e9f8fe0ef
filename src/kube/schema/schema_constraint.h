#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/values/json.h"

namespace muster::kube {

/// What values keep besides their structure: JSON schema's `allOf`, `anyOf`, `oneOf`, `not`, and
/// limits that Schema has no field for. It describes no structure: no field is known, pruned or
/// defaulted because of it. Immutable once built, and shared.
struct SchemaConstraint {
    using Ptr = std::shared_ptr<const SchemaConstraint>;
    struct Limit {
        double value = 0;
        bool exclusive = false;
    };

    json::object openapi;  ///< how it was written

    std::string type;  ///< "integer" or "string", as of what can be both; "": any
    std::string format;
    std::string pattern;
    std::optional<Limit> minimum;
    std::optional<Limit> maximum;
    std::optional<double> multiple_of;
    std::optional<std::size_t> min_length;
    std::optional<std::size_t> max_length;
    std::optional<std::size_t> min_items;
    std::optional<std::size_t> max_items;
    std::optional<std::size_t> min_properties;
    std::optional<std::size_t> max_properties;
    std::vector<json::value> enumeration;
    std::vector<std::string> required;
    std::map<std::string, Ptr, std::less<>> properties;
    Ptr items;

    std::vector<Ptr> all_of;
    std::vector<Ptr> any_of;
    std::vector<Ptr> one_of;
    Ptr none_of;  ///< `not`
};

}  // namespace muster::kube
