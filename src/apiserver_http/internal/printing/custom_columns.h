#pragma once

#include <boost/json/array.hpp>

#include "apiserver/resources/resource_def.h"
#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::apiserver_http {

// Columns of custom resources: the name, then those of the definition, or else the age.

json::array custom_column_definitions(const apiserver::ResourceDef& def);
/// A value that is missing or not of the column's type is null; a text of more than 4 KiB is cut.
json::array custom_cells(const apiserver::ResourceDef& def, const json::value& object,
                         WallTime now);

}  // namespace muster::apiserver_http
