#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "apiserver/internal/refusal.h"
#include "apiserver/internal/resource_def.h"
#include "kube/client.h"

namespace muster::apiserver {

/// A request's object, made to fit the structure of its kind.
struct DecodedObject {
    json::value object;  ///< an object with apiVersion, kind and a metadata object
    std::vector<std::string> warnings;
    /// Missing fields of a built-in kind, for validation to report.
    std::vector<Cause> causes;
};

/// Checks apiVersion and kind, refuses wrong types of built-in kinds (400; custom resources get
/// their 422 from validation), reports and removes unknown fields.
///
/// Duplicate keys never get here: whoever parsed the bytes has already resolved them.
Answer<DecodedObject> decode_object(const ResourceDef& def, const kube::ObjectPtr& body,
                                    kube::FieldValidation field_validation);
/// The same for a value that is already ours, such as the result of a patch.
Answer<DecodedObject> decode_object(const ResourceDef& def, json::value object,
                                    kube::FieldValidation field_validation);

}  // namespace muster::apiserver
