#include <boost/json/object.hpp>
#include <string_view>
#include <unordered_set>

#include "kube/internal/patch/erase_members.h"
#include "kube/patch/patch.h"
#include "kube/values/equality.h"

namespace muster::kube {
namespace {

void merge(json::value& target, const json::object& patch) {
    if (!target.is_object()) target.emplace_object();
    json::object& object = target.get_object();
    std::unordered_set<std::string_view> erased;
    for (const auto& entry : patch)
        if (entry.value().is_null()) erased.insert(entry.key());
    erase_members(object, erased);
    for (const auto& entry : patch) {
        if (entry.value().is_null()) continue;
        if (const json::object* nested = entry.value().if_object()) {
            merge(object[entry.key()], *nested);
        } else {
            object.insert_or_assign(entry.key(), entry.value());
        }
    }
}

json::object difference(const json::object& from, const json::object& to) {
    json::object patch;
    for (const auto& entry : from) {
        const json::value* kept = to.if_contains(entry.key());
        if (kept == nullptr || kept->is_null()) patch.emplace(entry.key(), nullptr);
    }
    for (const auto& entry : to) {
        if (entry.value().is_null()) continue;
        const json::value* before = from.if_contains(entry.key());
        if (before != nullptr && equal(*before, entry.value())) continue;
        if (before != nullptr && before->is_object() && entry.value().is_object()) {
            json::object nested = difference(before->get_object(), entry.value().get_object());
            // They may differ only in nulls, which a patch can't express.
            if (!nested.empty()) patch.emplace(entry.key(), std::move(nested));
        } else {
            patch.emplace(entry.key(), entry.value());
        }
    }
    return patch;
}

}  // namespace

Result<json::value> apply_merge_patch(const json::value& target, const json::value& patch) {
    json::value result = target;
    TRY_VOID(merge_patch_into(result, patch));
    return result;
}

Result<void> merge_patch_into(json::value& target, const json::value& patch) {
    const json::object* object = patch.if_object();
    if (object == nullptr) return Error(Code::kBadRequest, "a merge patch must be an object");
    merge(target, *object);
    return {};
}

json::value make_merge_patch(const json::value& from, const json::value& to) {
    const json::object* before = from.if_object();
    const json::object* after = to.if_object();
    if (after == nullptr) return json::object();
    return difference(before == nullptr ? json::object() : *before, *after);
}

}  // namespace muster::kube
