#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "apiserver/objects/field_errors.h"
#include "apiserver/objects/label_selection.h"

namespace muster::apiserver {

// What the kinds that make pods from a template have in common. `in` is the path of the spec.

/// Adds a cause for each of these numbers that is below 0.
void check_not_negative(const json::object& spec, const std::string& in,
                        std::initializer_list<std::string_view> keys, FieldErrors& field_errors);
/// Adds a cause for each of these fields that an update changes.
void check_immutable(const json::object& next, const json::object& current, const std::string& in,
                     std::initializer_list<std::string_view> keys, FieldErrors& field_errors);
/// Adds a cause if the selector does not select the labels of the spec's template.
void check_selection(const kube::LabelSelector& selector, const json::object& spec,
                     const std::string& in, FieldErrors& field_errors);
/// What is wrong with the pods of the spec's template, except for their restart policy.
void check_template(const json::object& spec, const std::string& in, FieldErrors& field_errors);

}  // namespace muster::apiserver
