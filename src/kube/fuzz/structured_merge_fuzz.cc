// Three JSON documents with line feeds between: an OpenAPI schema, or the name of a built-in kind
// as a string, a live object, and a configuration that two managers apply to it.

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "kube/patch/managed_fields.h"
#include "kube/patch/structured_merge.h"
#include "kube/schema/schema.h"
#include "kube/values/equality.h"

using namespace muster;
using namespace muster::kube;

namespace {

std::optional<json::value> next_document(std::string_view& text) {
    const std::size_t line = std::min(text.find('\n'), text.size());
    json::error_code failed;
    json::value document = json::parse(text.substr(0, line), failed);
    text.remove_prefix(std::min(line + 1, text.size()));
    if (failed) return std::nullopt;
    return document;
}

Schema::Ptr read_schema(const json::value& openapi) {
    if (const json::string* name = openapi.if_string())
        return core_schema({name->data(), name->size()});
    return Schema::from_openapi(openapi, "schema").first;
}

void apply_twice(const Schema& schema, const json::value& live, const json::value& configuration) {
    const FieldOwner who{"m", "v1", "", "2026-01-01T00:00:00Z"};
    json::value object = live;
    json::array entries;
    if (!apply_fields(entries, &schema, object, configuration, {}, who, {.force = true})) return;
    const json::value once = object;
    const json::array noted = entries;
    const FieldOwner later{"m", "v1", "", "2026-01-02T00:00:00Z"};
    CHECK(apply_fields(entries, &schema, object, configuration, {}, later, {}).has_value(),
          "what was forced is not a conflict any more");
    CHECK(equal(object, once), "the same again changes nothing");
    CHECK(noted.empty() || equal(json::value(entries), json::value(noted)),
          "and is noted as it was");
    const Result<json::array> read = read_managed_fields(entries);
    CHECK(read.has_value() && equal(json::value(*read), json::value(entries)),
          "what is noted can be read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::optional<json::value> openapi = next_document(text);
    const std::optional<json::value> live = next_document(text);
    const std::optional<json::value> configuration = next_document(text);
    if (!openapi || !live || !live->is_object() || !configuration || !configuration->is_object())
        return 0;
    const Schema::Ptr schema = read_schema(*openapi);
    if (schema == nullptr) return 0;

    const FieldChanges changes = compare_fields(schema.get(), *live, *configuration);
    const FieldChanges back = compare_fields(schema.get(), *configuration, *live);
    CHECK(changes.added == back.removed && changes.removed == back.added,
          "what one side has more the other has less");
    CHECK(compare_fields(schema.get(), *live, *live).empty(), "nothing differs from itself");
    const FieldSet added =
        compare_fields(schema.get(), json::object{{"metadata", json::object()}}, *live).added;
    const auto owned = FieldSet::from_json(new_fields_of(schema.get(), *live, {}));
    CHECK(owned.has_value() && *owned == added, "a creator owns what is added to nothing");
    if (!check_mergeable(schema.get(), *configuration)) return 0;

    json::value merged = *live;
    merge_fields(schema.get(), merged, *configuration);
    json::value again = merged;
    merge_fields(schema.get(), again, *configuration);
    CHECK(equal(again, merged), "merging is idempotent");
    apply_twice(*schema, *live, *configuration);
    return 0;
}
