#include "jobs/internal/conversion_data.h"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include "base/parse_number.h"
#include "kube/values/json_access.h"

namespace muster::jobs {
namespace {

// An edit is {"at": JSON Pointer} and one or two of: "was", the digest of the value that must be
// there; "is", the new value; "order", the keys of the object there in order. Without "was" nothing
// may be there; without "is" the value is removed.
constexpr std::string_view kAt = "at";
constexpr std::string_view kWas = "was";
constexpr std::string_view kIs = "is";
constexpr std::string_view kOrder = "order";

/// Beyond this length a digest takes less room than the value.
constexpr std::size_t kLongest = 48;

/// The same for values that differ only in the order of their keys: an API server sorts them.
std::string sorted_text(const json::value& value) {
    if (const json::array* list = value.if_array()) {
        std::string text = "[";
        for (const json::value& item : *list) text += sorted_text(item) + ',';
        return text + ']';
    }
    const json::object* object = value.if_object();
    if (object == nullptr) return json::serialize(value);
    std::vector<std::string> fields;
    for (const auto& [key, field] : *object)
        fields.push_back(json::serialize(json::value(key)) + ':' + sorted_text(field));
    std::ranges::sort(fields);
    std::string text = "{";
    for (const std::string& field : fields) text += field + ',';
    return text + '}';
}

/// Short values as they are; for others 64 bits (FNV-1a), which guard against edits, not against
/// attacks.
std::string digest(const json::value& value) {
    std::string text = sorted_text(value);
    if (text.size() <= kLongest) return text;
    std::uint64_t hash = 14695981039346656037u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    std::array<char, 17> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16).ptr;
    return "#" + std::string(digits.data(), end);
}

std::string child(const std::string& pointer, std::string_view key) {
    std::string path = pointer + '/';
    for (const char c : key) {
        if (c == '~')
            path += "~0";
        else if (c == '/')
            path += "~1";
        else
            path += c;
    }
    return path;
}

std::vector<std::string> split(std::string_view pointer) {
    std::vector<std::string> steps;
    while (!pointer.empty()) {
        pointer.remove_prefix(1);
        const std::string_view raw = pointer.substr(0, pointer.find('/'));
        pointer.remove_prefix(raw.size());
        std::string& step = steps.emplace_back();
        for (std::size_t i = 0; i < raw.size(); ++i) {
            const bool escaped = raw[i] == '~' && i + 1 < raw.size();
            step += escaped ? (raw[++i] == '1' ? '/' : '~') : raw[i];
        }
    }
    return steps;
}

std::vector<std::string> keys_of(const json::object& object) {
    std::vector<std::string> keys;
    keys.reserve(object.size());
    for (const auto& entry : object) keys.emplace_back(entry.key());
    return keys;
}

void compare(const json::value& from, const json::value& to, const std::string& at,
             json::array& edits);

void compare_objects(const json::object& from, const json::object& to, const std::string& at,
                     json::array& edits) {
    std::vector<std::string> order;
    for (const auto& [key, value] : from) {
        if (const json::value* kept = to.if_contains(key)) {
            order.emplace_back(key);
            compare(value, *kept, child(at, key), edits);
        } else {
            edits.push_back({{kAt, child(at, key)}, {kWas, digest(value)}});
        }
    }
    for (const auto& [key, value] : to) {
        if (from.contains(key)) continue;
        order.emplace_back(key);
        edits.push_back({{kAt, child(at, key)}, {kIs, value}});
    }
    const std::vector<std::string> wanted = keys_of(to);
    if (order != wanted)
        edits.push_back({{kAt, at}, {kOrder, json::array(wanted.begin(), wanted.end())}});
}

void compare(const json::value& from, const json::value& to, const std::string& at,
             json::array& edits) {
    if (from.is_object() && to.is_object())
        return compare_objects(from.get_object(), to.get_object(), at, edits);
    const bool alike =
        from.is_array() && to.is_array() && from.get_array().size() == to.get_array().size();
    if (alike) {
        for (std::size_t i = 0; i < from.get_array().size(); ++i)
            compare(from.get_array()[i], to.get_array()[i], child(at, std::to_string(i)), edits);
        return;
    }
    if (json::serialize(from) != json::serialize(to))
        edits.push_back({{kAt, at}, {kWas, digest(from)}, {kIs, to}});
}

/// The place of an edit: the object or list around it, and the last step.
struct Place {
    json::value* parent = nullptr;
    std::string step;

    json::value* value() const {
        if (parent == nullptr) return nullptr;
        if (json::object* object = parent->if_object()) return object->if_contains(step);
        json::array* list = parent->if_array();
        const auto index = parse_number<std::size_t>(step);
        return list != nullptr && index && *index < list->size() ? &(*list)[*index] : nullptr;
    }
};

Place find(json::value& root, std::string_view pointer) {
    Place place{.parent = &root, .step = {}};
    std::vector<std::string> steps = split(pointer);
    if (steps.empty()) return {};
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
        place.step = steps[i];
        place.parent = place.value();
        if (place.parent == nullptr) return {};
    }
    place.step = std::move(steps.back());
    return place;
}

bool finds_what_it_expects(const json::object& edit, json::value& object) {
    if (edit.contains(kOrder)) return true;
    const Place place = find(object, kube::string_at(edit, kAt));
    if (place.parent == nullptr) return false;
    const json::value* there = place.value();
    const json::value* was = edit.if_contains(kWas);
    if (was == nullptr) return there == nullptr && place.parent->is_object();
    return there != nullptr && was->is_string() && was->get_string() == digest(*there);
}

void reorder(const json::object& edit, json::value& root) {
    const std::string_view at = kube::string_at(edit, kAt);
    json::value* there = at.empty() ? &root : find(root, at).value();
    json::object* object = there == nullptr ? nullptr : there->if_object();
    if (object == nullptr) return;
    json::object sorted(object->storage());
    for (const std::string& key : kube::strings_at(edit, kOrder))
        if (json::value* value = object->if_contains(key)) sorted.emplace(key, *value);
    for (auto& [key, value] : *object) sorted.emplace(key, value);
    *object = std::move(sorted);
}

void make(const json::object& edit, json::value& root) {
    if (edit.contains(kOrder)) return reorder(edit, root);
    const Place place = find(root, kube::string_at(edit, kAt));
    const json::value* is = edit.if_contains(kIs);
    if (json::object* object = place.parent->if_object()) {
        if (is == nullptr)
            object->stable_erase(place.step);
        else
            object->insert_or_assign(place.step, *is);
    } else if (is != nullptr) {
        *place.value() = *is;
    }
}

}  // namespace

json::array conversion_data(const json::value& from, const json::value& to) {
    json::array edits;
    compare(from, to, "", edits);
    return edits;
}

void apply_conversion_data(const json::array& edits, json::value& object, bool all_or_none) {
    if (all_or_none && !std::ranges::all_of(edits, [&](const json::value& edit) {
            return edit.is_object() && finds_what_it_expects(edit.get_object(), object);
        }))
        return;
    for (const json::value& edit : edits)
        if (edit.is_object() && finds_what_it_expects(edit.get_object(), object))
            make(edit.get_object(), object);
}

}  // namespace muster::jobs
