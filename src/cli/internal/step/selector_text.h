#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::cli {

/// What the labels of a node must be.
struct NodeChoice {
    std::map<std::string, std::string> labels;
    std::map<std::string, std::vector<std::string>> one_of;  ///< keys with several allowed values

    friend bool operator==(const NodeChoice&, const NodeChoice&) = default;
};

/// Reads KFJ_TASK_NODE_SELECTOR: entries `key=value`, separated by ',', ';', newline or tab. In
/// "org=a,b" the "b" is another value of `org`. The last entry of a key counts. Pure.
Result<NodeChoice> read_selector_text(std::string_view text);

}  // namespace muster::cli
