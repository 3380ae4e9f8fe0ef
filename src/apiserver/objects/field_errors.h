#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kube/values/json.h"

namespace muster::apiserver {

using FieldErrors = std::vector<Cause>;

// One wrong field each, in the wording of apimachinery's field errors.

Cause required(std::string field, std::string_view detail = {});
Cause invalid_value(std::string field, const json::value& value, std::string_view detail);
Cause not_supported(std::string field, std::string_view value,
                    const std::vector<std::string_view>& supported);
Cause forbidden_field(std::string field, std::string_view detail);
Cause duplicate(std::string field, const json::value& value);
Cause not_found_value(std::string field, const json::value& value);
Cause too_long(std::string field, std::size_t max_bytes);
Cause too_many(std::string field, std::size_t items, std::size_t max_items);

}  // namespace muster::apiserver
