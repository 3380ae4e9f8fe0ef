#include "manifest/yaml/source_map.h"

#include "base/parse_number.h"

namespace muster::manifest {

namespace {

using Child = SourceNode::Child;

/// The longest key of `node` that `path` starts with, if a key ends there.
const Child* match_key(const SourceNode& node, std::string_view path) {
    const Child* best = nullptr;
    for (const Child& child : node.children) {
        if (!path.starts_with(child.name)) continue;
        std::string_view after = path.substr(child.name.size());
        bool ends = after.empty() || after.front() == '.' || after.front() == '[';
        if (ends && (best == nullptr || child.name.size() > best->name.size())) best = &child;
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
    for (const Child& child : node.children)
        if (child.name == inside) return &child;
    return nullptr;
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
