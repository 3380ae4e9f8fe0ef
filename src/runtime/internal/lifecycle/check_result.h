#pragma once

#include <string>

namespace muster::runtime {

/// The result of a probe's attempt or of a hook.
struct CheckResult {
    bool success = false;
    std::string output;  ///< what a failed check printed
};

}  // namespace muster::runtime
