#include "manifest/yaml/source_map.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/parse_number.h"

namespace muster::manifest {

namespace {

using Child = SourceNode::Child;

/// With fewer children their names are compared one by one.
constexpr std::size_t kMany = 16;

bool ends_key(std::string_view path, std::size_t at) {
    return at == path.size() || path[at] == '.' || path[at] == '[';
}

const std::vector<std::uint32_t>& by_name(const SourceNode& node) {
    if (node.by_name.size() != node.children.size()) {
        node.by_name.resize(node.children.size());
        std::iota(node.by_name.begin(), node.by_name.end(), 0);
        std::ranges::sort(node.by_name, {}, [&](std::uint32_t child) {
            return std::pair(std::string_view(node.children[child].name), child);
        });
    }
    return node.by_name;
}

/// The first child of many whose name is not before `name`, and where it stands by its name.
auto find_name(const SourceNode& node, std::string_view name) {
    return std::ranges::lower_bound(by_name(node), name, {}, [&](std::uint32_t child) {
        return std::string_view(node.children[child].name);
    });
}

const Child* child_named(const SourceNode& node, std::string_view name) {
    if (node.children.size() <= kMany) {
        const auto found = std::ranges::find(node.children, name, &Child::name);
        return found == node.children.end() ? nullptr : &*found;
    }
    const auto at = find_name(node, name);
    if (at == by_name(node).end() || node.children[*at].name != name) return nullptr;
    return &node.children[*at];
}

/// The same as match_key() below. Every name that `path` starts with is before `path`, and the
/// longest of them last.
const Child* match_key_of_many(const SourceNode& node, std::string_view path) {
    for (std::string_view front = path; !front.empty();) {
        if (ends_key(path, front.size()))
            if (const Child* child = child_named(node, front)) return child;
        const auto at = find_name(node, front);
        if (at == by_name(node).begin()) return nullptr;
        const std::string_view name = node.children[*std::prev(at)].name;
        const auto common = std::ranges::mismatch(front, name).in1 - front.begin();
        front = front.substr(0, static_cast<std::size_t>(common));
    }
    return ends_key(path, 0) ? child_named(node, {}) : nullptr;
}

/// The longest key of `node` that `path` starts with, if a key ends there.
const Child* match_key(const SourceNode& node, std::string_view path) {
    if (node.children.size() > kMany) return match_key_of_many(node, path);
    const Child* best = nullptr;
    for (const Child& child : node.children) {
        if (!path.starts_with(child.name) || !ends_key(path, child.name.size())) continue;
        if (best == nullptr || child.name.size() > best->name.size()) best = &child;
    }
    return best;
}

/// Removes "[3]" or "[key]" from `path`.
const Child* match_brackets(const SourceNode& node, std::string_view& path) {
    std::size_t close = path.find(']');
    if (close == std::string_view::npos) return nullptr;
    std::string_view inside = path.substr(1, close - 1);
    path.remove_prefix(close + 1);
    if (node.list) {
        const std::optional<std::size_t> index = parse_number<std::size_t>(inside);
        return index && *index < node.children.size() ? &node.children[*index] : nullptr;
    }
    return child_named(node, inside);
}

}  // namespace

Located locate(const SourcePtr& root, std::string_view path) {
    Located found;
    found.node = root;
    if (!root) return found;
    found.key = found.value = root->value;
    while (!path.empty()) {
        const Child* child = nullptr;
        if (path.front() == '[') {
            child = match_brackets(*found.node, path);
        } else {
            if (path.front() == '.') path.remove_prefix(1);
            child = match_key(*found.node, path);
            if (child != nullptr) path.remove_prefix(child->name.size());
        }
        if (child == nullptr) return found;
        found.key = child->key;
        // Copied before the assignment below may drop the node that owns the child.
        SourcePtr next = child->node;
        found.node = std::move(next);
        found.value = found.node->value;
    }
    found.exact = true;
    return found;
}

Place place_of(const SourcePtr& root, std::string_view path) {
    Located found = locate(root, path);
    // A list or map that starts below its key is easier to find by the key.
    bool below = found.node && !found.node->children.empty() && found.value.line != found.key.line;
    return found.exact && !below ? found.value : found.key;
}

Place place_of_key(const SourcePtr& root, std::string_view path) { return locate(root, path).key; }

}  // namespace muster::manifest
