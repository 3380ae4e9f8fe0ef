#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kube/values/json.h"

namespace muster::kube {

/// One step on the way to a field, kept in the text form of FieldsV1:
///
///     f:spec                a field of an object, a key of a map
///     k:{"name":"a"}        the item of a keyed list with these keys
///     v:"x"                 the item of a set with this value
///     i:0                   the item of a list at this position
///
/// The text is canonical (keys ordered by name, no white space, numbers in their shortest form):
/// equal steps have equal texts.
class PathElement {
  public:
    /// Whether a value can identify items: a string, a boolean, or a whole number. (A fraction has
    /// no text that every reader reads as the same number.)
    static bool identifies(const json::value& value);

    static PathElement field(std::string_view name);
    using Key = std::pair<std::string_view, const json::value*>;
    /// Each name once, in any order, with values that identify items.
    static PathElement keys(std::vector<Key> keys);
    static PathElement item(const json::value& identity);
    static PathElement position(std::int64_t index);
    /// kBadRequest for anything but these four.
    static Result<PathElement> parse(std::string_view text);

    const std::string& text() const { return text_; }
    bool is_field() const { return text_.front() == 'f'; }
    /// The name of a field.
    std::string_view name() const { return std::string_view(text_).substr(2); }
    /// For messages: `.spec`, `[name="a"]`, `[="x"]`, `[0]`.
    std::string describe() const;

    friend bool operator==(const PathElement& a, const PathElement& b) {
        return a.text_ == b.text_;
    }
    /// The order of structured-merge-diff: fields, keys, values, positions; numbers by value.
    friend std::strong_ordering operator<=>(const PathElement& a, const PathElement& b);

  private:
    explicit PathElement(std::string text) : text_(std::move(text)) {}

    std::string text_;
};

using FieldPathElements = std::vector<PathElement>;

/// `.spec.containers[name="a"].image`.
std::string describe(const FieldPathElements& path);

/// A set of paths, in which metadata.managedFields keeps who owns what. A path that is a member
/// says nothing about the paths below it: `f:labels` with a "." is the map itself, `f:a` in it one
/// label.
class FieldSet {
  public:
    struct Node;

    /// Parses FieldsV1. kBadRequest if it is not valid.
    static Result<FieldSet> from_json(const json::value& fields_v1);
    /// FieldsV1, each level in the order of its elements with "." first.
    json::object to_json(json::storage_ptr storage = {}) const;

    bool empty() const;
    /// In the order of their elements.
    const std::vector<Node>& nodes() const { return nodes_; }
    const Node* find(const PathElement& element) const;
    /// Every member, in order.
    std::vector<FieldPathElements> members() const;
    /// Shows the members, of each level first its own ones, as upstream lists them; until one is answered with false. Paths may be long: all of them
    /// together take more than the set.
    using Visit = std::function<bool(const FieldPathElements&)>;
    void visit(const Visit& visit) const;
    std::size_t count_members() const;

    void insert(const FieldPathElements& path);
    bool contains(const FieldPathElements& path) const;
    /// Takes nodes in any order, none equal and none empty.
    static FieldSet of(std::vector<Node> nodes);

    friend bool operator==(const FieldSet& a, const FieldSet& b);

  private:
    bool visit_below(FieldPathElements& path, const Visit& visit) const;
    void add_members(FieldPathElements& path, std::vector<FieldPathElements>& found) const;
    void write_into(json::object& fields) const;

    /// Every node is a member or has members below it.
    std::vector<Node> nodes_;
};

struct FieldSet::Node {
    PathElement element;
    bool member = false;
    FieldSet below = {};

    friend bool operator==(const Node& a, const Node& b) = default;
};

inline bool FieldSet::empty() const { return nodes_.empty(); }

FieldSet union_of(const FieldSet& a, const FieldSet& b);
/// Of any number of sets; it may take their nodes.
FieldSet union_of(std::vector<FieldSet> sets);
FieldSet intersection_of(const FieldSet& a, const FieldSet& b);
/// The members of `a` that `b` does not have.
FieldSet difference_of(const FieldSet& a, const FieldSet& b);
/// The same, but without anything below a member of `b`.
FieldSet without_subtrees(const FieldSet& a, const FieldSet& b);
bool includes(const FieldSet& whole, const FieldSet& part);

// Tests of FieldsV1 written by to_json(), without reading it into a set.

/// Whether the two have a common member.
bool intersects(const json::object& fields_v1, const FieldSet& set);
/// Whether all members of `part` are there.
bool includes(const json::object& fields_v1, const FieldSet& part);

}  // namespace muster::kube
