#include "cli/internal/objects/applied_change.h"

#include "kube/values/equality.h"
#include "kube/values/json_access.h"

namespace muster::cli {
namespace {

using kube::string_at;

bool same_where_said(const json::value& said, const json::value& before, const json::value& after) {
    if (!said.is_object() || !before.is_object() || !after.is_object())
        return kube::equal(before, after);
    for (const auto& [key, value] : said.get_object()) {
        const json::value* const one = before.get_object().if_contains(key);
        const json::value* const other = after.get_object().if_contains(key);
        if (one == nullptr || other == nullptr) {
            if (one != other) return false;
        } else if (!same_where_said(value, *one, *other)) {
            return false;
        }
    }
    return true;
}

/// The fields that a manager has applied to an object; may be null.
const json::value* applied_fields(const json::value& object, std::string_view manager) {
    const json::value* const metadata = object.get_object().if_contains("metadata");
    if (metadata == nullptr || !metadata->is_object()) return nullptr;
    const json::value* const entries = metadata->get_object().if_contains("managedFields");
    if (entries == nullptr || !entries->is_array()) return nullptr;
    for (const json::value& entry : entries->get_array())
        if (entry.is_object() && string_at(entry.get_object(), "manager") == manager &&
            string_at(entry.get_object(), "operation") == "Apply" &&
            string_at(entry.get_object(), "subresource").empty())
            return entry.get_object().if_contains("fieldsV1");
    return nullptr;
}

}  // namespace

bool changed_nothing(const json::value& manifest, std::string_view manager,
                     const json::value& before, const json::value& after) {
    const json::value* const had = applied_fields(before, manager);
    const json::value* const has = applied_fields(after, manager);
    return had != nullptr && has != nullptr && *had == *has &&
           same_where_said(manifest, before, after);
}

}  // namespace muster::cli
