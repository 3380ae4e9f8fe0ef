#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// What is wrong with a container's probes; `field` is the container's path.
void check_probes(const json::object& container, const std::string& field,
                  FieldErrors& field_errors);
/// And with its hooks. `grace` is the time that the pod has to end, if it says one.
void check_lifecycle(const json::object& container, std::optional<std::int64_t> grace,
                     const std::string& field, FieldErrors& field_errors);

}  // namespace muster::apiserver
