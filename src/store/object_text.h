#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "kube/values/json.h"

namespace muster::store {

class ObjectText;
using ObjectTextPtr = std::shared_ptr<const ObjectText>;

/// One state of an object at rest: its JSON text, as it is stored and sent. A parsed tree takes
/// about six times the memory of its text, so it is made when someone reads the object, and freed
/// with the last reference to it.
///
/// Immutable. Thread: tree(), tree_from() and tree_in_use() the server's loop, everything else any.
class ObjectText {
  public:
    /// Shares the tree for as long as someone else holds it.
    static ObjectTextPtr of(const kube::ObjectPtr& tree);
    /// How many texts of() has made, for all servers of the process.
    static std::uint64_t made();
    /// A copy of an earlier result of text(): compact JSON of an object. Null if it is not JSON of
    /// an object.
    static ObjectTextPtr read(std::string_view text);

    /// Not parsed yet: call is_object() before anything else.
    explicit ObjectText(std::string_view text);

    /// Whether the text is JSON of an object, as it must be.
    bool is_object() const;
    std::string_view text() const { return {bytes_.get(), size_}; }
    /// Never null. All callers share one tree while any of them holds it.
    kube::ObjectPtr tree() const;
    /// A tree of the caller's own, which no one else shares. Any thread.
    kube::ObjectPtr own_tree() const;
    /// tree(), for which `made`, a result of own_tree(), is used unless there is one already.
    kube::ObjectPtr tree_from(kube::ObjectPtr made) const;
    /// Null when no caller holds the tree.
    kube::ObjectPtr tree_in_use() const { return tree_.lock(); }

  private:
    std::unique_ptr<const char[]> bytes_;
    std::size_t size_;
    mutable std::weak_ptr<const json::value> tree_;
};

}  // namespace muster::store
