#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "apiserver/requests/status_error.h"
#include "apiserver/resources/resource_def.h"
#include "kube/client/client.h"
#include "kube/values/document.h"

namespace muster::apiserver {

/// A request's object, made to fit the structure of its kind.
struct DecodedObject {
    kube::Document object;  ///< an object with apiVersion, kind and a metadata object
    std::vector<std::string> warnings = {};
    /// Missing fields of a built-in kind, for validation to report.
    std::vector<Cause> field_errors = {};
    /// The client sent an object with the structure of its kind. A custom resource need not be
    /// checked again unless a field was added or removed since.
    bool well_formed = false;
};

/// How much of a body goes into the decoded object. All of it is checked.
enum class BodyPart {
    kWhole,
    kStatus,  ///< what a write to the status reads: without the spec and other fields of the kind
};

/// Checks apiVersion and kind, refuses wrong types of built-in kinds (400; custom resources get a
/// 422 from validation), and reports and removes unknown fields.
///
/// Never sees duplicate keys: the parser of the bytes has resolved them.
StatusResult<DecodedObject> decode_object(const ResourceDef& def, const kube::ObjectPtr& body,
                                          kube::FieldValidation field_validation,
                                          BodyPart part = BodyPart::kWhole);
/// The same for a document that is already ours, such as the result of a patch.
StatusResult<DecodedObject> decode_object(const ResourceDef& def, kube::Document object,
                                          kube::FieldValidation field_validation);
/// Sets the fields that were left out and have defaults.
void set_defaults(const ResourceDef& def, DecodedObject& decoded);
/// The fields of an object that a write to its status reads.
kube::Document status_part(const json::object& object, std::size_t spare);

}  // namespace muster::apiserver
