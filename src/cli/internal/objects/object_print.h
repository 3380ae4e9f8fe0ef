#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/internal/objects/api_resources.h"
#include "cli/internal/objects/output_format.h"
#include "kube/values/json.h"

namespace muster::cli {

/// The format of objects for programs. Pure.
struct PrintedAs {
    ObjectFormat format = ObjectFormat::kJson;
    std::string json_path = {};
    bool managed_fields = false;
};

/// One object alone, or several as a List. For kName: "pod/a" and a line end for each, with its
/// resource.
Result<std::string> print_objects(const std::vector<kube::ObjectPtr>& objects,
                                  const std::vector<const ApiResource*>& resources,
                                  const PrintedAs& as, bool one);

/// YAML documents, or one JSON List. Pure.
std::string print_objects(const std::vector<json::value>& objects, OutputFormat format);

/// Writes a text for people to standard output immediately; a terminal obeys nothing in it.
void print(std::string_view text);
/// The same for programs, which get it as it is, unless standard output is a terminal.
void print_exact(std::string_view text);

}  // namespace muster::cli
