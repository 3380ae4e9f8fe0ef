#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apiserver/objects/field_errors.h"
#include "kube/values/json.h"

namespace muster::apiserver {

// MatchResources, which say of policies and bindings which writes they are about.

void default_match_resources(json::object& match);
void check_match_resources(const json::object& match, const std::string& at,
                           FieldErrors& field_errors);

}  // namespace muster::apiserver
