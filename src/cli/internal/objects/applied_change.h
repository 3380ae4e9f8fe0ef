#pragma once

#include <string_view>

#include "kube/values/json.h"

namespace muster::cli {

/// Whether an apply of that manifest by that manager left an object as it was, by its states before
/// and after. Others write as well meanwhile (a status, a node's name): only what the manifest says
/// counts, and what the manager has of the object. All are objects. Pure.
bool changed_nothing(const json::value& manifest, std::string_view manager,
                     const json::value& before, const json::value& after);

}  // namespace muster::cli
