#pragma once

#include <string>
#include <vector>

namespace muster::cli {

struct KnownFlag {
    std::vector<std::string> names;  ///< "--output", "-o"
    bool takes_value = false;
};
struct KnownVerb {
    std::string name;
    std::vector<KnownFlag> flags;
};

}  // namespace muster::cli
