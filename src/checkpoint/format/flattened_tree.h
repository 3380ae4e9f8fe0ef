#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/pickle/pickle_tree.h"

namespace muster::checkpoint {

/// A key of a dictionary, or a place in a list.
struct PathPart {
    std::optional<std::string> key = std::nullopt;
    std::uint64_t index = 0;  ///< where there is no key

    friend bool operator==(const PathPart&, const PathPart&) = default;
};

/// A value of a tree with its place there.
struct TreeLeaf {
    std::vector<PathPart> path;
    NodeId node = kNoNode;
};

/// "optimizer.param_groups.0.lr"
std::string name_of(const std::vector<PathPart>& path);

/// A tree as torch's distributed checkpoint (2.4 and newer) takes it apart: dictionaries, and lists that have tensors or dictionaries
/// in them; all else is a leaf. kUnsupported: the tree is no dictionary, or has a key that is no text or whole number. kInvalid: two leaves
/// of one name. kTooLarge: too many leaves or too deep.
Result<std::vector<TreeLeaf>> flatten(const PickleTree& tree);

}  // namespace muster::checkpoint
