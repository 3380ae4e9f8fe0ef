#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "kube/values/json.h"

namespace muster::store {

class ObjectText;
using ObjectTextPtr = std::shared_ptr<const ObjectText>;

/// One state of an object at rest: its JSON text, as it is stored and sent. A parsed tree takes
/// some six times the memory of its text, so one is made when somebody looks into the object, and
/// goes with the last reference to it.
///
/// Immutable. Thread: tree() and tree_in_use() the server's loop, the rest any.
class ObjectText {
  public:
    /// Shares the tree for as long as somebody else holds it.
    static ObjectTextPtr of(const kube::ObjectPtr& tree);
    /// How many of() has made, of all servers of the process.
    static std::uint64_t made();
    /// A copy of what text() returned once: compact JSON of an object. Null if it is not JSON of an
    /// object.
    static ObjectTextPtr read(std::string_view text);

    /// Not looked into: is_object() has to be asked before anything else is.
    explicit ObjectText(std::string_view text);

    /// Whether the text is JSON of an object, as it has to be.
    bool is_object() const;
    std::string_view text() const { return {bytes_.get(), size_}; }
    /// Never null. All callers get the same tree while one is held.
    kube::ObjectPtr tree() const;
    /// Null when no caller holds the tree.
    kube::ObjectPtr tree_in_use() const { return tree_.lock(); }

  private:
    std::unique_ptr<const char[]> bytes_;
    std::size_t size_;
    mutable std::weak_ptr<const json::value> tree_;
};

}  // namespace muster::store
