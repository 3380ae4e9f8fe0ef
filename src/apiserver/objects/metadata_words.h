#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// `[prefix/]name`, the form of label and annotation keys and finalizers.
bool is_qualified_name(std::string_view text);

// apimachinery's messages for invalid names.
extern const std::string_view kDnsLabelMessage;
extern const std::string_view kDns1035LabelMessage;
extern const std::string_view kDnsSubdomainMessage;
extern const std::string_view kQualifiedNameMessage;
extern const std::string_view kLabelValueMessage;

/// Adds a cause for each label that is not well-formed; `field` is the path of the map.
void check_labels(const json::object& labels, const std::string& field, FieldErrors& field_errors);
void check_annotations(const json::object& annotations, const std::string& field,
                       FieldErrors& field_errors);

}  // namespace muster::apiserver
