#pragma once

#include <string_view>

#include "kube/values/json.h"

namespace muster::cli {

/// Whether an apply of that manifest by that manager left an object unchanged, from its states
/// before and after. Others may write meanwhile (a status, a node's name): only the fields of the
/// manifest and those that the manager owns count. All are objects. Pure.
bool changed_nothing(const json::value& manifest, std::string_view manager,
                     const json::value& before, const json::value& after);

}  // namespace muster::cli
