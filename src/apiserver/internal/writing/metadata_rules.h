#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "apiserver/objects/field_errors.h"
#include "apiserver/objects/metadata_words.h"
#include "apiserver/resources/resource_def.h"
#include "base/rng.h"

namespace muster::apiserver {

/// Checks name, labels, annotations, finalizers and owner references of an object to be stored.
void validate_metadata(const ResourceDef& def, const json::object& object,
                       FieldErrors& field_errors);

/// Five characters that end a name which the server makes up.
std::string random_suffix(Rng& rng);

}  // namespace muster::apiserver
