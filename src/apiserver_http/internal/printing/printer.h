#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <span>
#include <string_view>

#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::apiserver_http {

/// A column of a Table.
struct Column {
    std::string_view name;
    std::string_view type;    ///< a type of OpenAPI, or date
    std::string_view format;  ///< "name": it identifies the object
    std::string_view description;
    int priority = 0;  ///< 0: always shown; higher: only if there is room
};

/// How the objects of a built-in resource are printed.
struct Printer {
    std::string_view resource;  ///< "pods", "jobs.batch"
    std::span<const Column> columns;
    /// As many cells as there are columns.
    json::array (*cells)(const json::object& object, WallTime now);
};

// The columns that most kinds have.
inline constexpr Column kNameColumn{"Name", "string", "name",
                                    "Unique among the objects of its kind in a namespace."};
inline constexpr Column kAgeColumn{"Age", "string", "", "Time since the object was created."};
inline constexpr Column kContainersColumn{"Containers", "string", "",
                                          "Names of the template's containers.", 1};
inline constexpr Column kImagesColumn{"Images", "string", "",
                                      "Images of the template's containers.", 1};
inline constexpr Column kSelectorColumn{"Selector", "string", "",
                                        "Labels of the pods that belong to it.", 1};

/// Null for a resource without columns of its own.
const Printer* builtin_printer(std::string_view resource);

// The tables in which builtin_printer() looks.
std::span<const Printer> pod_printers();
std::span<const Printer> workload_printers();
std::span<const Printer> network_printers();
std::span<const Printer> cluster_printers();
std::span<const Printer> access_printers();
std::span<const Printer> storage_printers();

}  // namespace muster::apiserver_http
