#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace muster::checkpoint {

// What a pickle says, as plain values: nothing that it names is looked up or called.

/// A place in PickleTree::nodes.
using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;

enum class PickleKind : std::uint8_t {
    kNone,
    kBool,        ///< `integer` is 0 or 1
    kInteger,     ///< that fits into 64 bits
    kBigInteger,  ///< `text`: little-endian, two's complement
    kReal,
    kText,   ///< UTF-8 as a rule; Python also writes surrogates
    kBytes,  ///< `text`
    kList,
    kTuple,
    kSet,
    kFrozenSet,
    kDict,    ///< `items`: a key, its value, the next key, … Python keeps the last value of a key
    kGlobal,  ///< `text`: module, a space, name
    kCall,    ///< `items`: what is called, the tuple of its arguments
    kNew,  ///< `items`: the class whose instance is made, a tuple; with a dict of words behind them
    kPersistent,  ///< `items`: the id of what lies outside the pickle
};

struct PickleNode {
    PickleKind kind = PickleKind::kNone;
    bool ordered = false;  ///< of a dict: it is a collections.OrderedDict
    std::int64_t integer = 0;
    double real = 0;
    std::string text = {};
    std::vector<NodeId> items = {};
    NodeId state = kNoNode;     ///< what is set on the object after it is made
    NodeId pairs = kNoNode;     ///< of a call: a dict of what is put into its result
    NodeId appended = kNoNode;  ///< of a call: a list of what is appended to its result
};

/// A node may be in several places, and within itself: who follows `items` counts the steps.
struct PickleTree {
    std::vector<PickleNode> nodes = {};
    NodeId root = kNoNode;
    std::size_t bytes = 0;  ///< of the pickle, without what follows it

    const PickleNode& operator[](NodeId id) const { return nodes[id]; }
};

}  // namespace muster::checkpoint
