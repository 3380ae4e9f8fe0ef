// A JSON list of two or three documents: the second is applied to the first as each kind of patch,
// and the merge patches between the first and the third (or the second) are made and applied.

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/patch/patch.h"
#include "kube/schema/schema.h"

using namespace muster;
using namespace muster::kube;

namespace {

/// Limited to what merge patches can express: without null members.
json::value without_nulls(const json::value& value) {
    const json::object* object = value.if_object();
    if (object == nullptr) return value;
    json::object kept;
    for (const auto& entry : *object)
        if (!entry.value().is_null()) kept.emplace(entry.key(), without_nulls(entry.value()));
    return kept;
}

void check_difference(const json::value& from, const json::value& goal) {
    if (!from.is_object() || !goal.is_object()) return;
    const json::value to = without_nulls(goal);
    const json::value patch = make_merge_patch(from, to);
    const auto result = apply_merge_patch(from, patch);
    CHECK(result.has_value(), "a made patch applies");
    CHECK(*result == to, "applying make_merge_patch(a, b) to a gives b");
    CHECK(make_merge_patch(to, to).as_object().empty(), "equal documents need no patch");
}

/// For any document: `test` it against itself, replace it, add and remove a member.
void check_json_patch_laws(const json::value& document) {
    const json::array same{json::object{{"op", "test"}, {"path", ""}, {"value", document}}};
    CHECK(apply_json_patch(document, same).has_value(), "a document equals itself");
    if (!document.is_object() || document.get_object().contains("~/x")) return;
    const json::array there_and_back{
        json::object{{"op", "add"}, {"path", "/~0~1x"}, {"value", 1}},
        json::object{{"op", "move"}, {"from", "/~0~1x"}, {"path", "/~0~1x"}},
        json::object{{"op", "remove"}, {"path", "/~0~1x"}}};
    const auto result = apply_json_patch(document, there_and_back);
    CHECK(result.has_value(), "what was added can be removed");
    CHECK(*result == document, "and leaves nothing behind");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    json::error_code failed;
    const json::value input =
        json::parse(std::string_view(reinterpret_cast<const char*>(data), size), failed);
    if (failed || !input.is_array() || input.get_array().size() < 2) return 0;
    const json::array& documents = input.get_array();
    const json::value& target = documents[0];
    const json::value& patch = documents[1];

    if (const auto result = apply_json_patch(target, patch))
        CHECK(patch.is_array(), "a JSON patch is a list");
    if (const auto result = apply_merge_patch(target, patch))
        CHECK(*apply_merge_patch(*result, patch) == *result, "a merge patch is idempotent");

    static const Schema::Ptr kPod = core_schema("Pod");
    if (const auto result = apply_strategic_merge_patch(target, patch, *kPod)) {
        const auto unchanged = apply_strategic_merge_patch(*result, json::object(), *kPod);
        CHECK(unchanged.has_value() && *unchanged == *result, "an empty patch changes nothing");
    }

    check_json_patch_laws(target);
    check_difference(target, documents.back());
    check_difference(documents.back(), target);
    return 0;
}
