#pragma once

#include <string>
#include <string_view>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

// Names of resources of containers, limits and quotas.

/// Whether it can't be shared out in parts: devices and the like, and huge pages.
bool is_whole_resource(std::string_view name);
/// Whether it is counted in whole numbers.
bool is_integer_resource(std::string_view name);
/// One that a quota knows without a domain.
bool is_quota_resource(std::string_view name);

/// Adds a cause if it can't be the name of a resource at all, or of one of a container, or of what
/// a quota limits.
void check_resource_name(std::string_view name, const std::string& field,
                         FieldErrors& field_errors);
void check_container_resource_name(std::string_view name, const std::string& field,
                                   FieldErrors& field_errors);
void check_quota_resource_name(std::string_view name, const std::string& field,
                               FieldErrors& field_errors);

}  // namespace muster::apiserver
