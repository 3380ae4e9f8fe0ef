#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "cli/check.h"
#include "cli/command_line.h"

namespace muster::cli {

/// The pods and services that the objects lead to, in the order in which they are made. Pure.
Result<std::vector<json::value>> planned_objects(const std::vector<CheckedObject>& objects);

/// YAML documents, or one JSON List.
std::string print_objects(const std::vector<json::value>& objects, OutputFormat format);

}  // namespace muster::cli
