#pragma once

#include <string>
#include <vector>

#include "apiserver/objects/field_errors.h"
#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

/// The additionalPrinterColumns of a version; wrong ones are left out, as are those beyond
/// the 200 that a version may have.
std::vector<PrinterColumn> printer_columns_of(const json::object& version);
/// Says what is wrong with them; `field` is the version's path.
void check_printer_columns(const json::object& version, const std::string& field,
                           FieldErrors& field_errors);

}  // namespace muster::apiserver
