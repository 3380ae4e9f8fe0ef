// Two FieldsV1 documents with a line feed between. A document that can be read is written in one
// form, and the operations on sets obey their laws.

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/patch/field_set.h"

namespace json = boost::json;
using namespace muster;
using namespace muster::kube;

namespace {

std::optional<FieldSet> read_set(std::string_view text) {
    json::error_code failed;
    const json::value fields = json::parse(text, failed);
    if (failed) return std::nullopt;
    Result<FieldSet> set = FieldSet::from_json(fields);
    if (!set) return std::nullopt;
    const Result<FieldSet> again = FieldSet::from_json(set->to_json());
    CHECK(again.has_value() && *again == *set, "what is written reads as the same set");
    CHECK(set->empty() == set->members().empty(), "a set without members is empty");
    for (const FieldPathElements& path : set->members()) {
        CHECK(set->contains(path), "a member is in the set");
        CHECK(!describe(path).empty(), "a path can be shown");
    }
    return *std::move(set);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t line = std::min(text.find('\n'), text.size());
    const std::optional<FieldSet> a = read_set(text.substr(0, line));
    const std::optional<FieldSet> b = read_set(text.substr(std::min(line + 1, text.size())));
    if (!a || !b) return 0;
    const FieldSet common = intersection_of(*a, *b);
    CHECK(union_of(difference_of(*a, *b), common) == *a, "two parts make the whole");
    CHECK(union_of(*a, *b) == union_of(*b, *a), "the order of a union does not matter");
    CHECK(includes(union_of(*a, *b), *a), "a union has what its parts have");
    CHECK(intersects(a->to_json(), *b) == !common.empty(), "the text says what the set says");
    CHECK(includes(a->to_json(), *b) == includes(*a, *b), "the text says what the set says");
    return 0;
}
