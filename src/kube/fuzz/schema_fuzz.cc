// Two JSON documents with a line feed between: an OpenAPI schema, or the name of a built-in kind as
// a string, and a value for it.

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/schema/schema.h"

namespace json = boost::json;
using namespace muster::kube;

namespace {

Schema::Ptr read_schema(const json::value& openapi) {
    if (const json::string* name = openapi.if_string())
        return core_schema({name->data(), name->size()});
    auto [schema, causes] = Schema::from_openapi(openapi, "schema");
    CHECK((schema == nullptr) == !causes.empty(), "a schema or the causes against it");
    if (schema != nullptr) {
        auto [again, problems] = Schema::from_openapi(schema->to_openapi(), "schema");
        CHECK(again != nullptr, "what is written can be read");
        CHECK(again->to_openapi() == schema->to_openapi(), "and says the same");
    }
    return schema;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t line = text.find('\n');
    if (line == std::string_view::npos) return 0;
    json::error_code failed;
    const json::value openapi = json::parse(text.substr(0, line), failed);
    if (failed) return 0;
    json::value value = json::parse(text.substr(line + 1), failed);
    if (failed) return 0;
    const Schema::Ptr schema = read_schema(openapi);
    if (schema == nullptr) return 0;

    const Inspection found = inspect(*schema, value);
    const bool valid = found.causes.empty();
    CHECK(found.unknown_fields || find_unknown(*schema, value).empty(), "no field is overlooked");
    const json::value sent = value;
    prune(*schema, value);
    if (!found.unknown_fields && !found.absent_fields)
        CHECK(value == sent, "what needs no pruning is not pruned");
    CHECK(find_unknown(*schema, value).empty(), "what is pruned has no unknown field");
    json::value once = value;
    apply_defaults(*schema, once);
    json::value twice = once;
    apply_defaults(*schema, twice);
    CHECK(once == twice, "defaults are set once");
    prune(*schema, twice);
    if (valid) CHECK(validate(*schema, value).empty(), "pruning keeps a valid value valid");
    return 0;
}
