#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "apiserver/objects/field_errors.h"
#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

/// `[prefix/]name`, as label and annotation keys and finalizers are written.
bool is_qualified_name(std::string_view text);

// The wordings of apimachinery for names that are not as they should be.
extern const std::string_view kDnsLabelMessage;
extern const std::string_view kDns1035LabelMessage;
extern const std::string_view kDnsSubdomainMessage;
extern const std::string_view kQualifiedNameMessage;
extern const std::string_view kLabelValueMessage;

/// Adds a cause for each label that is not well-formed; `field` is where the map stands.
void check_labels(const json::object& labels, const std::string& field, FieldErrors& field_errors);

/// Name, labels, annotations, finalizers and owner references of an object to be stored.
void validate_metadata(const ResourceDef& def, const json::object& object,
                       FieldErrors& field_errors);

}  // namespace muster::apiserver
