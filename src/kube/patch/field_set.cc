#include "kube/patch/field_set.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>

#include "base/parse_number.h"
#include "kube/values/read_json.h"

namespace muster::kube {
namespace {

constexpr int kDeepest = 200;

bool is_plain(char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; }

void append_text(std::string& out, std::string_view text) {
    if (!std::ranges::all_of(text, is_plain)) {
        out += json::serialize(json::string(text));
        return;
    }
    out += '"';
    out += text;
    out += '"';
}

/// Appends the value in its only form: a whole number has no fraction and no exponent.
void append_scalar(std::string& out, const json::value& value) {
    if (const json::string* text = value.if_string()) return append_text(out, *text);
    if (const double* number = value.if_double())
        out += std::to_string(static_cast<std::int64_t>(*number));
    else
        out += json::serialize(value);
}

int rank(char kind) {
    constexpr std::string_view kOrder = "fkvi";
    return static_cast<int>(kOrder.find(kind));
}

bool in_number(char c) { return (c >= '0' && c <= '9') || c == '-'; }

/// The whole number around a place in a text or before it, or nullopt if there is none.
std::optional<double> number_around(std::string_view text, std::size_t place) {
    std::size_t begin = place;
    while (begin > 0 && in_number(text[begin - 1])) --begin;
    double value = 0;
    const auto [end, error] =
        std::from_chars(text.data() + begin, text.data() + text.size(), value);
    if (error != std::errc() || end < text.data() + place) return std::nullopt;
    return value;
}

/// Compares canonical JSON texts of scalars and of flat objects: strings by their bytes, numbers by
/// value.
std::strong_ordering compare_json(std::string_view a, std::string_view b) {
    const auto [left, right] = std::ranges::mismatch(a, b);
    const auto place = static_cast<std::size_t>(left - a.begin());
    bool in_string = false;
    for (std::size_t i = 0; i < place; ++i) {
        if (a[i] == '\\')
            ++i;
        else if (a[i] == '"')
            in_string = !in_string;
    }
    if (!in_string) {
        const std::optional<double> x = number_around(a, place);
        const std::optional<double> y = number_around(b, place);
        if (x && y && *x != *y)
            return *x < *y ? std::strong_ordering::less : std::strong_ordering::greater;
    }
    if (left == a.end() || right == b.end()) return a.size() <=> b.size();
    return static_cast<unsigned char>(*left) <=> static_cast<unsigned char>(*right);
}

Error bad_element(std::string_view text, std::string_view why) {
    return Error(Code::kBadRequest, "FieldsV1: \"" + std::string(text) + "\": " + std::string(why));
}

bool is_member(const json::object& fields) { return fields.empty() || fields.contains("."); }

Result<FieldSet> read(const json::value& value, int depth) {
    const json::object* fields = value.if_object();
    if (fields == nullptr) return bad_element(json::serialize(value), "must be an object");
    if (depth > kDeepest) return Error(Code::kBadRequest, "FieldsV1: nested too deeply");
    std::vector<FieldSet::Node> nodes;
    nodes.reserve(fields->size());
    for (const auto& [key, inner] : *fields) {
        if (key == ".") continue;
        TRY(PathElement element, PathElement::parse(key));
        TRY(FieldSet below, read(inner, depth + 1));
        const bool member = is_member(inner.get_object());
        if (member || !below.empty())
            nodes.push_back({std::move(element), member, std::move(below)});
    }
    // Different texts may be the same element.
    std::ranges::sort(nodes, {}, &FieldSet::Node::element);
    const auto twin = std::ranges::adjacent_find(nodes, {}, &FieldSet::Node::element);
    if (twin != nodes.end()) return bad_element(twin->element.text(), "is there twice");
    return FieldSet::of(std::move(nodes));
}

/// Walks both sets in parallel; `combine` gives the result for an element that is in `a`, `b` or
/// both (null: missing).
template <class Combine>
FieldSet merge_join(const FieldSet& a, const FieldSet& b, Combine combine) {
    std::vector<FieldSet::Node> nodes;
    auto left = a.nodes().begin();
    auto right = b.nodes().begin();
    while (left != a.nodes().end() || right != b.nodes().end()) {
        auto order = std::strong_ordering::equal;
        if (left == a.nodes().end())
            order = std::strong_ordering::greater;
        else if (right == b.nodes().end())
            order = std::strong_ordering::less;
        else
            order = left->element <=> right->element;
        const FieldSet::Node* x = order <= 0 ? &*left++ : nullptr;
        const FieldSet::Node* y = order >= 0 ? &*right++ : nullptr;
        FieldSet::Node node{x != nullptr ? x->element : y->element};
        combine(x, y, node);
        if (node.member || !node.below.empty()) nodes.push_back(std::move(node));
    }
    return FieldSet::of(std::move(nodes));
}

/// The same where only the nodes of `a` can be in the result. One that is much smaller does not
/// cost as much as `b`: an object may have many managers of few fields each.
template <class Combine>
FieldSet join_left(const FieldSet& a, const FieldSet& b, Combine combine) {
    constexpr std::size_t kMuchSmaller = 16;
    if (b.nodes().size() / kMuchSmaller < a.nodes().size()) {
        return merge_join(a, b, [&](const auto* x, const auto* y, FieldSet::Node& out) {
            if (x != nullptr) combine(*x, y, out);
        });
    }
    std::vector<FieldSet::Node> nodes;
    for (const FieldSet::Node& x : a.nodes()) {
        FieldSet::Node node{x.element};
        combine(x, b.find(x.element), node);
        if (node.member || !node.below.empty()) nodes.push_back(std::move(node));
    }
    return FieldSet::of(std::move(nodes));
}

}  // namespace

bool PathElement::identifies(const json::value& value) {
    constexpr double kExact = 9007199254740992.0;  // beyond, a double skips whole numbers
    if (const double* number = value.if_double())
        return std::trunc(*number) == *number && std::abs(*number) <= kExact;
    return value.is_string() || value.is_bool() || value.is_number();
}

PathElement PathElement::field(std::string_view name) {
    std::string text;
    text.reserve(name.size() + 2);
    text += "f:";
    text += name;
    return PathElement(std::move(text));
}

PathElement PathElement::keys(std::vector<Key> keys) {
    std::ranges::sort(keys, {}, &Key::first);
    std::string text = "k:";
    for (const auto& [name, value] : keys) {
        text += text.size() == 2 ? '{' : ',';
        append_text(text, name);
        text += ':';
        append_scalar(text, *value);
    }
    text += '}';
    return PathElement(std::move(text));
}

PathElement PathElement::item(const json::value& identity) {
    std::string text = "v:";
    append_scalar(text, identity);
    return PathElement(std::move(text));
}

PathElement PathElement::position(std::int64_t index) {
    return PathElement("i:" + std::to_string(index));
}

Result<PathElement> PathElement::parse(std::string_view text) {
    if (text.size() < 2 || text[1] != ':') return bad_element(text, "not a path element");
    const std::string_view rest = text.substr(2);
    if (text.front() == 'f') return field(rest);
    if (text.front() == 'i') {
        const auto index = parse_number<std::int64_t>(rest);
        if (!index) return bad_element(text, "not a position");
        return position(*index);
    }
    if (text.front() != 'k' && text.front() != 'v') return bad_element(text, "not a path element");
    const std::optional<json::value> value = read_json(rest);
    if (!value) return bad_element(text, "no JSON after the colon");
    if (text.front() == 'v') {
        if (!identifies(*value)) return bad_element(text, "not a string, boolean or whole number");
        return item(*value);
    }
    const json::object* fields = value->if_object();
    if (fields == nullptr || fields->empty()) return bad_element(text, "not keys of a list");
    std::vector<Key> named;
    for (const auto& entry : *fields) {
        if (!identifies(entry.value()))
            return bad_element(text, "not a string, boolean or whole number");
        named.emplace_back(entry.key(), &entry.value());
    }
    return keys(std::move(named));
}

std::string PathElement::describe() const {
    const std::string_view rest = name();
    switch (text_.front()) {
        case 'f':
            return "." + std::string(rest);
        case 'v':
            return "[=" + std::string(rest) + "]";
        case 'i':
            return "[" + std::string(rest) + "]";
        default: {
            const std::optional<json::value> keys = read_json(rest);
            std::string text;
            for (const auto& entry : keys->get_object()) {
                text += text.empty() ? '[' : ',';
                text += entry.key();
                text += '=';
                append_scalar(text, entry.value());
            }
            return text + "]";
        }
    }
}

std::strong_ordering operator<=>(const PathElement& a, const PathElement& b) {
    const char kind = a.text_.front();
    if (kind != b.text_.front()) return rank(kind) <=> rank(b.text_.front());
    if (kind == 'f') return a.text_ <=> b.text_;
    return compare_json(a.name(), b.name());
}

std::string describe(const FieldPathElements& path) {
    std::string text;
    for (const PathElement& element : path) text += element.describe();
    return text;
}

FieldSet FieldSet::of(std::vector<Node> nodes) {
    if (!std::ranges::is_sorted(nodes, {}, &Node::element))
        std::ranges::sort(nodes, {}, &Node::element);
    FieldSet set;
    set.nodes_ = std::move(nodes);
    return set;
}

Result<FieldSet> FieldSet::from_json(const json::value& fields_v1) { return read(fields_v1, 0); }

void FieldSet::write_into(json::object& fields) const {
    for (const Node& node : nodes_) {
        json::object inner(fields.storage());
        if (!node.below.empty()) {
            inner.reserve(node.below.nodes_.size() + (node.member ? 1 : 0));
            if (node.member) inner.emplace(".", json::object(fields.storage()));
            node.below.write_into(inner);
        }
        fields.emplace(node.element.text(), std::move(inner));
    }
}

json::object FieldSet::to_json(json::storage_ptr storage) const {
    json::object fields(nodes_.size(), std::move(storage));
    write_into(fields);
    return fields;
}

bool operator==(const FieldSet& a, const FieldSet& b) { return a.nodes_ == b.nodes_; }

const FieldSet::Node* FieldSet::find(const PathElement& element) const {
    const auto it = std::ranges::lower_bound(nodes_, element, {}, &Node::element);
    return it == nodes_.end() || it->element != element ? nullptr : &*it;
}

bool FieldSet::visit_below(FieldPathElements& path, const Visit& visit) const {
    for (const bool members : {true, false})
        for (const Node& node : nodes_) {
            if (members ? !node.member : node.below.empty()) continue;
            path.push_back(node.element);
            const bool on = members ? visit(path) : node.below.visit_below(path, visit);
            path.pop_back();
            if (!on) return false;
        }
    return true;
}

void FieldSet::visit(const Visit& visit) const {
    FieldPathElements path;
    visit_below(path, visit);
}

void FieldSet::add_members(FieldPathElements& path, std::vector<FieldPathElements>& found) const {
    for (const Node& node : nodes_) {
        path.push_back(node.element);
        if (node.member) found.push_back(path);
        node.below.add_members(path, found);
        path.pop_back();
    }
}

std::vector<FieldPathElements> FieldSet::members() const {
    std::vector<FieldPathElements> found;
    FieldPathElements path;
    add_members(path, found);
    return found;
}

std::size_t FieldSet::count_members() const {
    std::size_t count = 0;
    for (const Node& node : nodes_) count += (node.member ? 1 : 0) + node.below.count_members();
    return count;
}

void FieldSet::insert(const FieldPathElements& path) {
    FieldSet* set = this;
    for (std::size_t i = 0; i < path.size(); ++i) {
        auto it = std::ranges::lower_bound(set->nodes_, path[i], {}, &Node::element);
        if (it == set->nodes_.end() || it->element != path[i])
            it = set->nodes_.insert(it, Node{path[i]});
        if (i + 1 == path.size()) it->member = true;
        set = &it->below;
    }
}

bool FieldSet::contains(const FieldPathElements& path) const {
    const FieldSet* set = this;
    const Node* node = nullptr;
    for (const PathElement& element : path) {
        node = set->find(element);
        if (node == nullptr) return false;
        set = &node->below;
    }
    return node != nullptr && node->member;
}

FieldSet union_of(const FieldSet& a, const FieldSet& b) {
    using Node = FieldSet::Node;
    return merge_join(a, b, [](const Node* x, const Node* y, Node& out) {
        out.member = (x != nullptr && x->member) || (y != nullptr && y->member);
        if (x == nullptr || y == nullptr)
            out.below = x != nullptr ? x->below : y->below;
        else
            out.below = union_of(x->below, y->below);
    });
}

FieldSet union_of(std::vector<FieldSet> sets) {
    // By halves: one after the other, the result would be copied for each.
    while (sets.size() > 1) {
        const std::size_t half = (sets.size() + 1) / 2;
        for (std::size_t i = half; i < sets.size(); ++i)
            sets[i - half] = union_of(sets[i - half], sets[i]);
        sets.resize(half);
    }
    return sets.empty() ? FieldSet() : std::move(sets.front());
}

FieldSet intersection_of(const FieldSet& a, const FieldSet& b) {
    using Node = FieldSet::Node;
    if (b.nodes().size() < a.nodes().size()) return intersection_of(b, a);
    return join_left(a, b, [](const Node& x, const Node* y, Node& out) {
        if (y == nullptr) return;
        out.member = x.member && y->member;
        out.below = intersection_of(x.below, y->below);
    });
}

FieldSet difference_of(const FieldSet& a, const FieldSet& b) {
    using Node = FieldSet::Node;
    return join_left(a, b, [](const Node& x, const Node* y, Node& out) {
        out.member = x.member && (y == nullptr || !y->member);
        out.below = y == nullptr ? x.below : difference_of(x.below, y->below);
    });
}

FieldSet without_subtrees(const FieldSet& a, const FieldSet& b) {
    using Node = FieldSet::Node;
    return join_left(a, b, [](const Node& x, const Node* y, Node& out) {
        if (y != nullptr && y->member) return;
        out.member = x.member;
        out.below = y == nullptr ? x.below : without_subtrees(x.below, y->below);
    });
}

bool includes(const FieldSet& whole, const FieldSet& part) {
    return std::ranges::all_of(part.nodes(), [&](const FieldSet::Node& node) {
        const FieldSet::Node* other = whole.find(node.element);
        return other != nullptr && (other->member || !node.member) &&
               includes(other->below, node.below);
    });
}

bool intersects(const json::object& fields_v1, const FieldSet& set) {
    const auto meet = [](const FieldSet::Node& node, const json::value& value) {
        const json::object* inner = value.if_object();
        if (inner == nullptr) return false;
        return (node.member && is_member(*inner)) || intersects(*inner, node.below);
    };
    if (fields_v1.size() < set.nodes().size()) {
        return std::ranges::any_of(fields_v1, [&](const json::key_value_pair& field) {
            const Result<PathElement> element = PathElement::parse(field.key());
            const FieldSet::Node* node = element ? set.find(*element) : nullptr;
            return node != nullptr && meet(*node, field.value());
        });
    }
    return std::ranges::any_of(set.nodes(), [&](const FieldSet::Node& node) {
        const json::value* value = fields_v1.if_contains(node.element.text());
        return value != nullptr && meet(node, *value);
    });
}

bool includes(const json::object& fields_v1, const FieldSet& part) {
    return std::ranges::all_of(part.nodes(), [&](const FieldSet::Node& node) {
        const json::value* value = fields_v1.if_contains(node.element.text());
        const json::object* inner = value == nullptr ? nullptr : value->if_object();
        if (inner == nullptr) return false;
        return (!node.member || is_member(*inner)) && includes(*inner, node.below);
    });
}

}  // namespace muster::kube
