#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <memory>

#include "kube/values/json.h"

namespace muster::kube {

/// A JSON value that owns the memory of its whole tree, in one block if possible: a copy does not
/// allocate for each field, and freeing it is one deallocation. To be made as a copy, changed in a
/// few fields, and then shared for good as an ObjectPtr.
///
/// Additions go into the block's spare room, then into further blocks. Removed or replaced values
/// keep their room until the end, so it is not meant for long editing. A value that is moved out of
/// the tree still lives in the document's memory; copy it if it is to outlive the document. A
/// moved-from document may only be destroyed or assigned to.
class Document {
  public:
    /// Null, without memory of its own yet.
    Document() = default;
    /// A deep copy, with room for about `spare` bytes more.
    explicit Document(const json::value& value, std::size_t spare = 0);
    /// An empty object with room for about `room` bytes.
    static Document empty_object(std::size_t room);

    Document(Document&&) noexcept = default;
    Document& operator=(Document&&) noexcept = default;

    json::value& value();
    const json::value& value() const;
    json::object& object() { return value().get_object(); }
    const json::object& object() const { return value().get_object(); }

    /// The value, never to be changed again; its memory is freed with the last reference to it.
    ObjectPtr share() &&;

  private:
    struct Holder;
    explicit Document(std::shared_ptr<Holder> holder) : holder_(std::move(holder)) {}
    static std::shared_ptr<Holder> make_holder(std::size_t room);

    std::shared_ptr<Holder> holder_;
};

/// A copy in memory of its own. The copy constructors of Boost.JSON use the memory of the original,
/// and that of a shared tree (ObjectPtr) is freed with the last reference to it.
inline json::value copy_of(const json::value& value) {
    return json::value(value, json::storage_ptr());
}
inline json::object copy_of(const json::object& object) {
    return json::object(object, json::storage_ptr());
}
inline json::array copy_of(const json::array& array) {
    return json::array(array, json::storage_ptr());
}

/// The bytes that a document needs for a copy of the value.
std::size_t tree_bytes(const json::value& value);

}  // namespace muster::kube
