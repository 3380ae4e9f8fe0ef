#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "jobs/conversion.h"
#include "jobs/kind.h"
#include "kube/values/json_access.h"

// An object of any shape is either converted to each other version of its kind or refused with
// causes, and converts back to the same text.

namespace {

using namespace muster;

/// It has no kept data already, which need not be ours, and there is room for them.
bool can_keep(const json::object& object) {
    const json::value* at = object.if_contains("metadata");
    if (at == nullptr || at->is_null()) return true;
    if (!at->is_object()) return false;
    at = at->get_object().if_contains("annotations");
    if (at == nullptr || at->is_null()) return true;
    return at->is_object() && !at->get_object().contains(jobs::annotations::kConvertedFrom);
}

void check(const json::value& given, const std::string& from, const std::string& to) {
    const jobs::Conversion there = jobs::convert(given, to);
    for (const Cause& problem : there.problems)
        CHECK(!problem.reason.empty() && !problem.message.empty(), "a problem says what it is");
    if (!there.problems.empty()) {
        CHECK(there.object == given, "what is refused stays as it was");
        return;
    }
    CHECK(kube::string_at(there.object.get_object(), "apiVersion") == to,
          "it says what it has become");
    for (const Cause& change : there.changes)
        CHECK(!change.field.empty() && !change.message.empty(), "a change says what it is");
    const jobs::Conversion back = jobs::convert(there.object, from);
    if (!can_keep(given.get_object())) return;
    CHECK(back.problems.empty(), "there is a way back");
    CHECK(json::serialize(back.object) == json::serialize(given), "that leads to the same text");
    const jobs::Conversion again = jobs::convert(back.object, to);
    CHECK(json::serialize(again.object) == json::serialize(there.object), "as does the way there");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    boost::json::error_code failed;
    const json::value given =
        json::parse({reinterpret_cast<const char*>(data), size}, failed, {}, {.max_depth = 100});
    if (failed || !given.is_object()) return 0;
    const std::string from(kube::string_at(given.get_object(), "apiVersion"));
    const std::string kind(kube::string_at(given.get_object(), "kind"));
    const std::vector<std::string> versions = jobs::versions_of(kind);
    if (std::ranges::find(versions, from) == versions.end()) return 0;
    for (const std::string& to : versions) check(given, from, to);
    return 0;
}
