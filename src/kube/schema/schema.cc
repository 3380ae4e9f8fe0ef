#include "kube/schema/schema.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <cmath>

#include "base/nearest_name.h"
#include "kube/internal/schema/schema_types.h"
#include "kube/internal/schema/schema_walk.h"
#include "kube/values/text_size.h"

namespace muster::kube {
namespace {

/// No one reads more of them, and each costs a comparison with every known name.
constexpr std::size_t kMostUnknown = 100;
constexpr std::size_t kMostDefaultBytes = std::size_t{4} * 1024 * 1024;

void find_unknown_in(const Schema& schema, const json::value& value, FieldPath& path,
                     std::vector<UnknownField>& found) {
    if (found.size() >= kMostUnknown) return;
    if (schema.type == Schema::Type::kArray && value.is_array() && schema.items) {
        std::size_t index = 0;
        for (const json::value& item : value.get_array()) {
            FieldPath::Step step(path, index++);
            find_unknown_in(*schema.items, item, path, found);
        }
        return;
    }
    if (schema.type != Schema::Type::kObject || !value.is_object()) return;
    std::vector<std::string> names;
    for (const auto& [key, field] : value.get_object()) {
        FieldPath::Step step(path, key);
        if (const Schema* known = field_schema(schema, key)) {
            find_unknown_in(*known, field, path, found);
        } else if (!schema.preserve_unknown) {
            if (found.size() >= kMostUnknown) return;
            if (names.empty())
                for (const auto& [name, property] : schema.properties) names.push_back(name);
            found.push_back({path.text(), nearest_name(key, names)});
        }
    }
}

bool is_zero(const json::value& value) {
    switch (value.kind()) {
        case json::kind::null:
            return true;
        case json::kind::bool_:
            return !value.get_bool();
        case json::kind::int64:
            return value.get_int64() == 0;
        case json::kind::uint64:
            return value.get_uint64() == 0;
        case json::kind::double_:
            return value.get_double() == 0;
        case json::kind::string:
            return value.get_string().empty();
        case json::kind::array:
            return value.get_array().empty();
        case json::kind::object:
            return value.get_object().empty();
    }
    return false;
}

}  // namespace

bool is_unwanted_null(const Schema& schema, const json::value& value) {
    return value.is_null() && !schema.nullable && schema.type != Schema::Type::kAny;
}

bool is_whole_double(const json::value& value) {
    const double* number = value.if_double();
    // Beyond it several integers are the same double.
    constexpr double kMostExact = 9007199254740991.0;
    return number != nullptr && std::fabs(*number) <= kMostExact && std::trunc(*number) == *number;
}

bool counts_as_absent(const Schema& schema, const json::value& value) {
    return schema.omits_zero ? is_zero(value) : is_unwanted_null(schema, value);
}

const Schema* Schema::property(std::string_view name) const {
    auto it = properties.find(name);
    return it == properties.end() ? nullptr : it->second.get();
}

const Schema* field_schema(const Schema& object, std::string_view key) {
    if (const Schema* known = object.property(key)) return known;
    return object.additional.get();
}

std::string nearest_name(std::string_view unknown, const std::vector<std::string>& candidates) {
    return muster::nearest_name(unknown, candidates);
}

std::vector<UnknownField> find_unknown(const Schema& schema, const json::value& value,
                                       const std::string& path) {
    std::vector<UnknownField> found;
    FieldPath at(path);
    find_unknown_in(schema, value, at, found);
    return found;
}

namespace {

void find_nulls_in(const Schema& schema, const json::value& value, FieldPath& path,
                   std::vector<Cause>& found) {
    if (found.size() >= kMostUnknown) return;
    if (is_unwanted_null(schema, value)) {
        const std::string field = path.text();
        found.push_back({"FieldValueTypeInvalid",
                         fmt::format("Invalid value: \"null\": {} in body must be of type {}: "
                                     "\"null\"",
                                     field, type_name(schema.type)),
                         field});
    } else if (const json::array* array = value.if_array(); array != nullptr && schema.items) {
        for (std::size_t index = 0; index < array->size(); ++index) {
            FieldPath::Step step(path, index);
            find_nulls_in(*schema.items, (*array)[index], path, found);
        }
    } else if (const json::object* object = value.if_object()) {
        for (const auto& [key, field] : *object) {
            const Schema* known = field_schema(schema, key);
            if (known == nullptr) continue;
            FieldPath::Step step(path, key);
            find_nulls_in(*known, field, path, found);
        }
    }
}

}  // namespace

std::vector<Cause> find_nulls(const Schema& schema, const json::value& value) {
    std::vector<Cause> found;
    FieldPath path("");
    find_nulls_in(schema, value, path, found);
    return found;
}

void prune(const Schema& schema, json::value& value) {
    if (schema.whole_doubles && is_whole_double(value)) {
        value = static_cast<std::int64_t>(value.get_double());
        return;
    }
    if (schema.type == Schema::Type::kArray && value.is_array() && schema.items) {
        for (json::value& item : value.get_array()) prune(*schema.items, item);
        return;
    }
    if (schema.type != Schema::Type::kObject || !value.is_object()) return;
    json::object& object = value.get_object();
    auto unwanted = [&](const json::key_value_pair& entry) {
        const Schema* known = field_schema(schema, entry.key());
        return known != nullptr ? counts_as_absent(*known, entry.value())
                                : !schema.preserve_unknown;
    };
    if (std::any_of(object.begin(), object.end(), unwanted)) {
        // One pass into a new object: erasing one by one is quadratic in hostile input.
        json::object kept(object.storage());
        kept.reserve(object.size());
        for (auto& entry : object)
            if (!unwanted(entry)) kept.emplace(entry.key(), std::move(entry.value()));
        object = std::move(kept);
    }
    for (auto& entry : object)
        if (const Schema* known = field_schema(schema, entry.key())) prune(*known, entry.value());
}

namespace {

/// `left`: how many bytes of defaults may still be added.
bool apply_defaults_in(const Schema& schema, json::value& value, std::size_t& left) {
    bool changed = false;
    if (schema.type == Schema::Type::kArray && value.is_array() && schema.items) {
        for (json::value& item : value.get_array())
            changed |= apply_defaults_in(*schema.items, item, left);
        return changed;
    }
    if (schema.type != Schema::Type::kObject || !value.is_object()) return false;
    json::object& object = value.get_object();
    // A schema may know far more fields than are there: only those with a default are looked up.
    for (const auto& [name, property] : schema.properties) {
        if (property->default_value.is_null()) continue;
        json::value* field = object.if_contains(name);
        if (field != nullptr && !is_unwanted_null(*property, *field)) continue;
        const std::size_t bytes = name.size() + text_size(property->default_value, left);
        if (bytes >= left) {
            left = 0;
            return changed;
        }
        left -= bytes;
        object[name] = property->default_value;
        changed = true;
    }
    for (auto& entry : object)
        if (const Schema* known = field_schema(schema, entry.key()))
            changed |= apply_defaults_in(*known, entry.value(), left);
    return changed;
}

}  // namespace

bool apply_defaults(const Schema& schema, json::value& value) {
    std::size_t left = kMostDefaultBytes;
    return apply_defaults_in(schema, value, left);
}

}  // namespace muster::kube
