#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/parse_number.h"
#include "kube/patch/patch.h"
#include "kube/values/document.h"
#include "kube/values/text_size.h"

namespace muster::kube {
namespace {

constexpr std::size_t kMaxOperations = 10'000;
constexpr std::size_t kMaxCopied = 3 * 1024 * 1024;
constexpr std::size_t kMaxDepth = 200;
/// What all operations of a patch move aside to make room, or look through to see how deep it is.
constexpr std::size_t kMaxMoved = 5'000'000;
/// What is moved to keep the members of objects in their order, which is for people.
constexpr std::size_t kMaxMovedForOrder = 500'000;

using Pointer = std::vector<std::string>;

/// RFC 6901; nullopt when it is ill-formed.
std::optional<Pointer> parse_pointer(std::string_view text) {
    Pointer pointer;
    if (text.empty()) return pointer;
    if (text.front() != '/') return std::nullopt;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '/') {
            pointer.emplace_back();
        } else if (text[i] != '~') {
            pointer.back() += text[i];
        } else if (++i < text.size() && (text[i] == '0' || text[i] == '1')) {
            pointer.back() += text[i] == '0' ? '~' : '/';
        } else {
            return std::nullopt;
        }
    }
    return pointer;
}

/// The position that a token names in a list of `size` items; `size` itself only for an insertion.
std::optional<std::size_t> parse_index(std::string_view token, std::size_t size, bool insertion) {
    if (insertion && token == "-") return size;
    if (token.empty() || (token.size() > 1 && token.front() == '0')) return std::nullopt;
    const auto index = parse_number<std::size_t>(token);
    if (!index || *index > size || (*index == size && !insertion)) return std::nullopt;
    return index;
}

const json::value* child(const json::value& parent, const std::string& token) {
    if (const json::object* object = parent.if_object()) return object->if_contains(token);
    const json::array* array = parent.if_array();
    if (array == nullptr) return nullptr;
    const std::optional<std::size_t> index = parse_index(token, array->size(), false);
    return index ? &(*array)[*index] : nullptr;
}

/// The value at the first `count` tokens, or null.
const json::value* find(const json::value& document, const Pointer& pointer, std::size_t count) {
    const json::value* value = &document;
    for (std::size_t i = 0; i < count && value != nullptr; ++i) value = child(*value, pointer[i]);
    return value;
}

json::value* find(json::value& document, const Pointer& pointer, std::size_t count) {
    return const_cast<json::value*>(find(std::as_const(document), pointer, count));
}

/// True when the value has more than `limit` levels. Subtracts the values that it visits from
/// `left`, and stops at zero.
bool is_deeper_than(const json::value& value, std::size_t limit, std::size_t& left) {
    const json::array* array = value.if_array();
    const json::object* object = value.if_object();
    if (left > 0) --left;
    if ((array == nullptr && object == nullptr) || left == 0) return false;
    if (limit == 0) return true;
    if (array != nullptr)
        return std::any_of(array->begin(), array->end(), [&](const json::value& item) {
            return is_deeper_than(item, limit - 1, left);
        });
    return std::any_of(object->begin(), object->end(), [&](const auto& entry) {
        return is_deeper_than(entry.value(), limit - 1, left);
    });
}

/// Equality as in RFC 6902: numbers by value (1 is 1.0), objects in any order.
bool equal_by_value(const json::value& a, const json::value& b) {
    if (a.is_number() && b.is_number() && a.is_double() != b.is_double()) {
        auto real = [](const json::value& value) { return value.to_number<double>(); };
        return real(a) == real(b);
    }
    if (const json::array* left = a.if_array()) {
        const json::array* right = b.if_array();
        return right != nullptr &&
               std::equal(left->begin(), left->end(), right->begin(), right->end(), equal_by_value);
    }
    if (const json::object* left = a.if_object()) {
        const json::object* right = b.if_object();
        return right != nullptr && left->size() == right->size() &&
               std::all_of(left->begin(), left->end(), [right](const auto& entry) {
                   const json::value* other = right->if_contains(entry.key());
                   return other != nullptr && equal_by_value(entry.value(), *other);
               });
    }
    return a == b;
}

Error ill_formed(std::string why) { return Error(Code::kBadRequest, std::move(why)); }
Error refused(std::string why) { return Error(Code::kInvalid, std::move(why)); }

class Patcher {
  public:
    explicit Patcher(const json::value& target) : document_(copy_of(target)) {}

    Result<void> apply(const json::object& operation) {
        TRY(const std::string name, text_member(operation, "op"));
        TRY(const Pointer path, pointer_member(operation, "path"));
        if (name == "remove") {
            TRY_VOID(remove(path));
            return {};
        }
        if (name == "move" || name == "copy") {
            TRY(const Pointer from, pointer_member(operation, "from"));
            return name == "move" ? move(from, path) : copy(from, path);
        }
        const json::value* value = operation.if_contains("value");
        if (name != "add" && name != "replace" && name != "test")
            return refused(
                fmt::format("unknown operation \"{}\"; there are add, remove, "
                            "replace, move, copy and test",
                            name));
        if (value == nullptr) return ill_formed("the member \"value\" is missing");
        if (name == "add") return add(path, *value);
        return name == "replace" ? replace(path, *value) : test(path, *value);
    }

    json::value take() { return std::move(document_); }

  private:
    static Result<std::string> text_member(const json::object& operation, std::string_view key) {
        const json::value* value = operation.if_contains(key);
        const json::string* text = value == nullptr ? nullptr : value->if_string();
        if (text == nullptr)
            return ill_formed(fmt::format("the member \"{}\" must be there, as a string", key));
        return std::string(*text);
    }

    static Result<Pointer> pointer_member(const json::object& operation, std::string_view key) {
        TRY(const std::string text, text_member(operation, key));
        std::optional<Pointer> pointer = parse_pointer(text);
        if (!pointer)
            return ill_formed(
                fmt::format("\"{}\" is not a JSON pointer: \"{}\" (it is empty or "
                            "starts with '/'; ~ is written ~0 and / is ~1)",
                            key, text));
        return *std::move(pointer);
    }

    /// The list or object in which the path's last token is looked up.
    Result<json::value*> parent_of(const Pointer& path) {
        json::value* parent = find(document_, path, path.size() - 1);
        if (parent == nullptr || !parent->is_structured())
            return refused("there is nothing at the path's parent");
        return parent;
    }

    static Error too_much_moved() {
        return Error(Code::kTooLarge,
                     fmt::format("the patch moves more than {} values about in all; split it, or "
                                 "replace the list as a whole",
                                 kMaxMoved));
    }
    Result<void> spend(std::size_t moved) {
        if (moved >= left_) return too_much_moved();
        left_ -= moved;
        return {};
    }

    Result<void> check_depth(const Pointer& path, const json::value& value) {
        if (path.size() > kMaxDepth || is_deeper_than(value, kMaxDepth - path.size(), left_))
            return Error(
                Code::kTooLarge,
                fmt::format("the document would be nested deeper than {} levels", kMaxDepth));
        if (left_ == 0) return too_much_moved();
        return {};
    }

    Result<void> add(const Pointer& path, json::value value) {
        TRY_VOID(check_depth(path, value));
        if (path.empty()) {
            document_ = std::move(value);
            return {};
        }
        TRY(json::value * parent, parent_of(path));
        if (json::object* object = parent->if_object()) {
            object->insert_or_assign(path.back(), std::move(value));
            return {};
        }
        json::array& array = parent->get_array();
        const std::optional<std::size_t> index = parse_index(path.back(), array.size(), true);
        if (!index)
            return refused(fmt::format("\"{}\" is not a position in a list of {} items",
                                       path.back(), array.size()));
        TRY_VOID(spend(array.size() - *index));
        array.insert(array.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
        return {};
    }

    Result<json::value> remove(const Pointer& path) {
        if (path.empty()) return refused("the whole document can't be removed");
        TRY(json::value * parent, parent_of(path));
        json::value* value = find(*parent, {path.back()}, 1);
        if (value == nullptr) return refused("there is nothing at the path");
        if (json::object* object = parent->if_object()) {
            json::value removed = std::move(*value);
            erase_member(*object, path.back());
            return removed;
        }
        json::array& array = parent->get_array();
        const std::ptrdiff_t index = value - array.data();
        TRY_VOID(spend(array.size() - static_cast<std::size_t>(index)));
        json::value removed = std::move(*value);
        array.erase(array.begin() + index);
        return removed;
    }

    void erase_member(json::object& object, std::string_view key) {
        if (object.size() > left_for_order_) {
            object.erase(key);  // fills the gap with the last member
            return;
        }
        left_for_order_ -= object.size();
        object.stable_erase(key);
    }

    /// A member that is absent from its object is added (evanphx/json-patch v4.12, replace).
    Result<void> replace(const Pointer& path, const json::value& value) {
        TRY_VOID(check_depth(path, value));
        if (json::value* place = find(document_, path, path.size())) {
            *place = value;
            return {};
        }
        TRY(json::value * parent, parent_of(path));  // the path is not empty
        if (!parent->is_object()) return refused("there is nothing at the path");
        parent->get_object().insert_or_assign(path.back(), value);
        return {};
    }

    Result<void> move(const Pointer& from, const Pointer& path) {
        if (from == path)
            return find(document_, from, from.size()) != nullptr
                       ? Result<void>()
                       : refused("there is nothing at \"from\"");
        if (from.size() < path.size() && std::equal(from.begin(), from.end(), path.begin()))
            return refused("a value can't be moved into itself");
        if (find(document_, from, from.size()) == nullptr)
            return refused("there is nothing at \"from\"");
        TRY(json::value value, remove(from));
        return add(path, std::move(value));
    }

    Result<void> copy(const Pointer& from, const Pointer& path) {
        const json::value* value = find(document_, from, from.size());
        if (value == nullptr) {
            // The copy of an absent member is null (evanphx/json-patch v4.12, copy).
            const json::value* parent =
                from.empty() ? nullptr : find(document_, from, from.size() - 1);
            if (parent == nullptr || !parent->is_object())
                return refused("there is nothing at \"from\"");
            return add(path, nullptr);
        }
        copied_ += text_size(*value, kMaxCopied);
        if (copied_ > kMaxCopied)
            return Error(Code::kTooLarge, "the patch's copies are larger than 3 MiB in all");
        return add(path, *value);
    }

    Result<void> test(const Pointer& path, const json::value& value) {
        const json::value* found = find(document_, path, path.size());
        if (found == nullptr) {
            // An absent member is null (evanphx/json-patch v4.12, test).
            TRY(const json::value* parent, parent_of(path));
            if (parent->is_object() && value.is_null()) return {};
            return refused("there is nothing at the path");
        }
        if (equal_by_value(*found, value)) return {};
        constexpr std::size_t kLongest = 100;
        std::string text = json::serialize(*found);
        if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
        return refused("the value there is " + text);
    }

    json::value document_;
    std::size_t copied_ = 0;
    std::size_t left_ = kMaxMoved;
    std::size_t left_for_order_ = kMaxMovedForOrder;
};

std::string describe(std::size_t number, const json::object& operation) {
    auto text = [&](std::string_view key) {
        const json::value* value = operation.if_contains(key);
        return value != nullptr && value->is_string() ? std::string(value->get_string()) : "?";
    };
    return fmt::format("JSON patch, operation {} ({} \"{}\")", number, text("op"), text("path"));
}

}  // namespace

Result<json::value> apply_json_patch(const json::value& target, const json::value& patch) {
    const json::array* operations = patch.if_array();
    if (operations == nullptr) return ill_formed("a JSON patch must be a list of operations");
    if (operations->size() > kMaxOperations)
        return Error(Code::kTooLarge,
                     fmt::format("a JSON patch has at most {} operations, this one has {}",
                                 kMaxOperations, operations->size()));
    Patcher patcher(target);
    for (std::size_t i = 0; i < operations->size(); ++i) {
        const json::object* operation = (*operations)[i].if_object();
        if (operation == nullptr)
            return ill_formed(fmt::format("JSON patch, operation {}: must be an object", i));
        if (Result<void> applied = patcher.apply(*operation); !applied)
            return std::move(applied.error().prefix(describe(i, *operation)));
    }
    return patcher.take();
}

}  // namespace muster::kube
