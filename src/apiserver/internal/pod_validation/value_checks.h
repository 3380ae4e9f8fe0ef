#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

inline constexpr std::int64_t kMostPort = 65535;

// What several parts of a pod's spec have in common. `field` is the path of the value, `in` that of
// the object around it.

void check_range(const json::object& object, std::string_view key, std::int64_t least,
                 std::int64_t most, const std::string& in, FieldErrors& field_errors);
void check_at_least_zero(const json::object& object, std::string_view key, const std::string& in,
                         FieldErrors& field_errors);
void check_port(std::int64_t number, const std::string& field, FieldErrors& field_errors);
/// A number, which may be missing (then it is 0), or the name of a container's port.
void check_port_or_name(const json::object& object, const std::string& in,
                        FieldErrors& field_errors);
void check_port_name(std::string_view name, const std::string& field, FieldErrors& field_errors);
/// If the field is there.
void check_choice(const json::object& object, std::string_view key,
                  const std::vector<std::string_view>& choices, const std::string& in,
                  FieldErrors& field_errors);
/// Whether a part of the path is "..".
bool has_backstep(std::string_view path);
void check_no_backstep(std::string_view path, const std::string& field, FieldErrors& field_errors);
/// A path that is to stay in its volume: relative, and without "..".
void check_descending_path(std::string_view path, const std::string& field,
                           FieldErrors& field_errors);
void check_label_map(const json::object& labels, const std::string& field,
                     FieldErrors& field_errors);
void check_label_selector(const json::object& selector, const std::string& field,
                          FieldErrors& field_errors);

}  // namespace muster::apiserver
