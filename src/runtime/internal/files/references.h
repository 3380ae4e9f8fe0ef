#pragma once

#include <set>
#include <string>

namespace muster::runtime {

/// The ConfigMaps and Secrets that a container's environment or a pod's volumes refer to.
struct References {
    std::set<std::string> config_maps;
    std::set<std::string> secrets;
};
}  // namespace muster::runtime
