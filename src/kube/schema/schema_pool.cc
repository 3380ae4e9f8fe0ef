#include "kube/schema/schema_pool.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstring>

namespace muster::kube {
namespace {

template <class T>
Fingerprint with_bytes(const Fingerprint& before, std::string_view kind, T number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    return before.with(kind).with({bytes, sizeof bytes});
}

/// Every value begins with a word for its type, and lists and objects end with one, so that
/// different trees have different sequences.
Fingerprint with(Fingerprint seen, const json::value& value) {
    switch (value.kind()) {
        case json::kind::null:
            return seen.with("null");
        case json::kind::bool_:
            return seen.with(value.get_bool() ? "true" : "false");
        case json::kind::int64:
            return with_bytes(seen, "int", value.get_int64());
        case json::kind::uint64:
            return with_bytes(seen, "uint", value.get_uint64());
        case json::kind::double_:
            return with_bytes(seen, "double", value.get_double());
        case json::kind::string:
            return seen.with("\"").with(value.get_string());
        case json::kind::array:
            seen = seen.with("[");
            for (const json::value& item : value.get_array()) seen = with(seen, item);
            return seen.with("]");
        case json::kind::object:
            seen = seen.with("{");
            for (const auto& [key, field] : value.get_object()) seen = with(seen.with(key), field);
            return seen.with("}");
    }
    return seen;
}

}  // namespace

Fingerprint fingerprint_of(const json::value& value) { return with(Fingerprint(), value); }

Schema::Ptr SchemaPool::find(const Fingerprint& json) const {
    const std::scoped_lock lock(mutex_);
    const auto known = parts_.find(json);
    return known == parts_.end() ? nullptr : known->second.lock();
}

void SchemaPool::add(const Fingerprint& json, const Schema::Ptr& part) {
    const std::scoped_lock lock(mutex_);
    parts_.insert_or_assign(json, part);
    if (parts_.size() < sweep_at_) return;
    boost::unordered::erase_if(parts_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = 2 * parts_.size() + 4096;
}

std::size_t SchemaPool::size() const {
    const std::scoped_lock lock(mutex_);
    return parts_.size();
}

}  // namespace muster::kube
