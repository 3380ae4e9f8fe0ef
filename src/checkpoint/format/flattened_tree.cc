#include "checkpoint/format/flattened_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "checkpoint/format/shown_name.h"
#include "checkpoint/format/torch_tree.h"

namespace muster::checkpoint {
namespace {

constexpr std::size_t kMostTreeDepth = 200;
constexpr std::size_t kMostSteps = 4'000'000;

class Flattening {
  public:
    explicit Flattening(const PickleTree& tree) : tree_(tree) {}

    Result<std::vector<TreeLeaf>> run() {
        if (!is_mapping(tree_[tree_.root]))
            return Error(Code::kUnsupported,
                         "a distributed checkpoint is of a dictionary, and "
                         "this state is not one");
        TRY_VOID(visit(tree_.root));
        return std::move(leaves_);
    }

  private:
    bool is_mapping(const PickleNode& node) const {
        if (node.kind == PickleKind::kDict) return true;
        return node.kind == PickleKind::kCall &&
               tree_[node.items[0]].text == "collections defaultdict";
    }
    const std::vector<NodeId>& pairs_of(const PickleNode& node) const {
        static const std::vector<NodeId> kNone;
        if (node.kind == PickleKind::kDict) return node.items;
        return node.pairs == kNoNode ? kNone : tree_[node.pairs].items;
    }

    /// A list that has nothing to take apart in it.
    Result<bool> is_plain(NodeId id, std::size_t depth) {
        const auto [known, is_new] = plain_.emplace(id, true);  // meanwhile: for one in itself
        if (!is_new) return known->second;
        if (depth > kMostTreeDepth) return Error(Code::kTooLarge, "lists are nested too deeply");
        for (const NodeId item : tree_[id].items) {
            bool plain = !is_mapping(tree_[item]);
            if (plain && tree_[item].kind == PickleKind::kList) {
                TRY(plain, is_plain(item, depth + 1));
            }
            if (plain) {
                TRY(const auto tensor, torch_tensor(tree_, item));
                plain = !tensor;
            }
            if (!plain) return plain_[id] = false;
        }
        return true;
    }

    Result<std::string> key_of(const PickleNode& node) const {
        if (node.kind == PickleKind::kText) return node.text;
        if (node.kind == PickleKind::kInteger) return fmt::format("{}", node.integer);
        if (node.kind == PickleKind::kBool)
            return std::string(node.integer != 0 ? "True" : "False");
        return Error(Code::kUnsupported,
                     fmt::format("a key in {} is no text and no whole number", place()));
    }
    std::string place() const { return path_.empty() ? "the state" : shown_name(name_of(path_)); }

    Result<void> visit(NodeId id) {
        if (++steps_ > kMostSteps || path_.size() > kMostTreeDepth)
            return Error(Code::kTooLarge,
                         fmt::format("{} has too many values or is nested too deeply", place()));
        const PickleNode& node = tree_[id];
        if (is_mapping(node)) {
            const std::vector<NodeId>& pairs = pairs_of(node);
            for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
                TRY(std::string key, key_of(tree_[pairs[i]]));
                TRY_VOID(visit_part({.key = std::move(key)}, pairs[i + 1]));
            }
            return {};
        }
        bool is_leaf = node.kind != PickleKind::kList;
        if (!is_leaf) {
            TRY(is_leaf, is_plain(id, 0));
        }
        if (is_leaf) return add(id);
        for (std::size_t i = 0; i < node.items.size(); ++i)
            TRY_VOID(visit_part({.index = i}, node.items[i]));
        return {};
    }
    Result<void> visit_part(PathPart part, NodeId id) {
        path_.push_back(std::move(part));
        TRY_VOID(visit(id));
        path_.pop_back();
        return {};
    }
    Result<void> add(NodeId id) {
        if (!names_.insert(name_of(path_)).second)
            return Error(Code::kInvalid, fmt::format("two values have the name {}", place()));
        leaves_.push_back({.path = path_, .node = id});
        return {};
    }

    const PickleTree& tree_;
    std::vector<PathPart> path_;
    std::size_t steps_ = 0;
    std::unordered_map<NodeId, bool> plain_;
    std::unordered_set<std::string> names_;
    std::vector<TreeLeaf> leaves_;
};

}  // namespace

std::string name_of(const std::vector<PathPart>& path) {
    std::string name;
    for (const PathPart& part : path) {
        if (&part != &path.front()) name += '.';
        name += part.key ? *part.key : fmt::format("{}", part.index);
    }
    return name;
}

Result<std::vector<TreeLeaf>> flatten(const PickleTree& tree) { return Flattening(tree).run(); }

}  // namespace muster::checkpoint
