#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time/clock.h"

namespace muster::job_protocol {

struct Budget {
    std::optional<int> incidents;        ///< none: no limit
    Duration window = Duration::zero();  ///< of calendar time in which they count; zero: forever

    friend bool operator==(const Budget&, const Budget&) = default;
};

struct PolicyOptions {
    /// Exit codes with which a program says that another try is of no use, or that the node is bad.
    std::set<int> final_codes = {};
    std::set<int> bad_node_codes = {};
    /// Texts in errors by which a bad node is known.
    std::vector<std::string> bad_node_errors = {};
    /// How many failures of the program in a row, all alike, end the job; 0: no number does.
    int give_up_after = 0;

    friend bool operator==(const PolicyOptions&, const PolicyOptions&) = default;
};

}  // namespace muster::job_protocol
