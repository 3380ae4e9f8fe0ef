#include "store/object_text.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/json.hpp>
#include <string>

#include "base/check.h"
#include "kube/values/document.h"
#include "store/json_text.h"

namespace muster::store {

namespace {

/// Stored data are read back whatever they are: no string is refused, and the depth limit is far
/// beyond what any front end accepts, but within the stack.
json::parse_options as_stored() {
    json::parse_options options;
    options.max_depth = 1000;
    options.allow_invalid_utf8 = true;
    return options;
}

std::atomic<std::uint64_t> texts_made = 0;

/// The tree of most objects needs no other memory.
using Room = std::array<unsigned char, 65536>;

std::unique_ptr<const char[]> copy_of(std::string_view text) {
    auto bytes = std::make_unique_for_overwrite<char[]>(text.size());
    std::ranges::copy(text, bytes.get());
    return bytes;
}

}  // namespace

ObjectText::ObjectText(std::string_view text) : bytes_(copy_of(text)), size_(text.size()) {}

ObjectTextPtr ObjectText::of(const kube::ObjectPtr& tree) {
    texts_made.fetch_add(1, std::memory_order_relaxed);
    constexpr std::size_t kMost = 4096;  // the text of most objects fits, and is not moved
    std::string text;
    text.reserve(kMost);
    append_json(text, *tree);
    auto made = std::make_shared<const ObjectText>(text);
    made->tree_ = tree;
    return made;
}

ObjectTextPtr ObjectText::read(std::string_view text) {
    auto made = std::make_shared<const ObjectText>(text);
    return made->is_object() ? made : nullptr;
}

std::uint64_t ObjectText::made() { return texts_made.load(std::memory_order_relaxed); }

bool ObjectText::is_object() const {
    Room room;
    json::monotonic_resource arena(room.data(), room.size());
    boost::system::error_code failed;
    return json::parse(text(), failed, &arena, as_stored()).is_object() && !failed;
}

kube::ObjectPtr ObjectText::tree() const {
    if (kube::ObjectPtr held = tree_.lock()) return held;
    return tree_from(own_tree());
}

kube::ObjectPtr ObjectText::tree_from(kube::ObjectPtr made) const {
    if (kube::ObjectPtr held = tree_.lock()) return held;
    tree_ = made;
    return made;
}

kube::ObjectPtr ObjectText::own_tree() const {
    // In an arena first: a document's memory is one block, made when its size is known.
    Room room;
    json::monotonic_resource arena(room.data(), room.size());
    boost::system::error_code failed;
    const json::value parsed = json::parse(text(), failed, &arena, as_stored());
    CHECK(!failed && parsed.is_object(), "an object's text is checked before it is kept");
    return kube::Document(parsed).share();
}

}  // namespace muster::store
