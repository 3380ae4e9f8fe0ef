#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "store/object_text.h"

namespace muster::apiserver {

// Looks for single fields in the text of an object, when making a tree of all of it would cost more
// than the question is worth. The text is compact JSON as Boost.JSON writes it: without spaces, and
// with keys unescaped if their characters allow it.

/// The text of the value at "spec.a.b"; nullopt if there is none.
std::optional<std::string_view> text_at_path(std::string_view object, std::string_view dotted);

/// Whether the object at the path has one of these fields with a value that is not null. Takes one
/// walk, where separate calls would take one for each missing field.
bool any_at_path(std::string_view object, std::string_view dotted,
                 std::initializer_list<std::string_view> keys);

/// The parsed result of text_at_path(); null if there is none.
json::value value_at_path(std::string_view object, std::string_view dotted);

/// The string at the path; empty if there is none.
std::string string_at_path(std::string_view object, std::string_view dotted);

/// Calls `visit(key, value)` for each label of the object, without a tree of them: there may be a
/// hundred thousand. The texts are valid during the call; a key with an escape, which no valid
/// label has, is given as it is written.
void each_label(std::string_view object,
                const std::function<void(std::string_view key, std::string_view value)>& visit);
/// The value of one label; empty if there is none.
std::string label_at(std::string_view object, std::string_view key);
/// The same for the finalizers.
void each_finalizer(std::string_view object,
                    const std::function<void(std::string_view name)>& visit);

/// The object with another `metadata.resourceVersion`.
store::ObjectTextPtr with_resource_version(const store::ObjectText& object, std::uint64_t revision);

/// The same as for the tree.
std::string namespace_of(const store::ObjectText& object);
std::string name_of(const store::ObjectText& object);
std::string uid_of(const store::ObjectText& object);
bool is_deleting(const store::ObjectText& object);

}  // namespace muster::apiserver
