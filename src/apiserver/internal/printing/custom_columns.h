#pragma once

#include <boost/json/array.hpp>
#include <string>
#include <vector>

#include "apiserver/internal/causes.h"
#include "apiserver/internal/resource_def.h"
#include "base/clock.h"
#include "kube/values/json.h"

namespace muster::apiserver {

// Columns of custom resources: the name, then what the definition declares, or the age.

/// The additionalPrinterColumns of a version; those that are wrong are left out.
std::vector<PrinterColumn> printer_columns_of(const json::object& version);
/// Says what is wrong with them; `field` is the version's path.
void check_printer_columns(const json::object& version, const std::string& field, Causes& causes);

json::array custom_column_definitions(const ResourceDef& def);
/// A value that is not there or not of the column's type is null.
json::array custom_cells(const ResourceDef& def, const json::value& object, WallTime now);

}  // namespace muster::apiserver
