#pragma once

#include <string>

namespace muster::runtime {

/// What came of a probe's attempt or of a hook.
struct CheckResult {
    bool success = false;
    std::string output;  ///< of a failure: what it said
};

}  // namespace muster::runtime
