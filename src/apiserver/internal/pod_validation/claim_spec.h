#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// What is wrong with the spec of a claim to a volume; `field` is its path.
void check_claim_spec(const json::object& spec, const std::string& field,
                      FieldErrors& field_errors);
/// And with the template of the claim that is made for an ephemeral volume.
void check_claim_template(const json::object& claim_template, const std::string& field,
                          FieldErrors& field_errors);
/// The ways of access to a volume, which claims and volumes have alike.
void check_access_modes(const json::object& spec, const std::string& field,
                        FieldErrors& field_errors);

}  // namespace muster::apiserver
