#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/value.hpp>

#include "base/test_growth.h"
#include "kube/schema/schema.h"

namespace muster::kube::schema_growth_test {
namespace {

/// The work on a definition and on objects of it: both come from outside, and it may not grow with
/// the product of their sizes.
struct Case {
    const char* name;
    json::value (*openapi)(std::size_t size);  ///< of spec.x
    json::value (*value)(std::size_t size);
    std::size_t size;
};

void PrintTo(const Case& of, std::ostream* out) { *out << of.name; }

/// Names in an order that is not theirs.
std::string name_of(std::size_t i) { return fmt::format("p{}", i * 7919 % 1'000'003); }

json::array names(std::size_t count) {
    json::array all;
    for (std::size_t i = 0; i < count; ++i) all.emplace_back(name_of(i));
    return all;
}

json::object fields(std::size_t count, const json::value& value) {
    json::object all;
    for (std::size_t i = 0; i < count; ++i) all[name_of(i)] = value;
    return all;
}

json::value object_of_many(std::size_t size) {
    return {{"type", "object"}, {"properties", fields(size, {{"type", "string"}})}};
}

json::value list_of(json::object items) { return {{"type", "array"}, {"items", std::move(items)}}; }

json::value each_needs_all(std::size_t size) {
    return list_of({{"type", "object"},
                    {"required", names(size)},
                    {"properties", fields(size, {{"type", "string"}})}});
}

json::value choice_of_many(std::size_t size) {
    return list_of({{"type", "string"}, {"enum", names(size)}});
}

json::value keyed_by_many(std::size_t size) {
    json::value list = each_needs_all(size);
    list.as_object()["x-kubernetes-list-type"] = "map";
    list.as_object()["x-kubernetes-list-map-keys"] = names(size);
    return list;
}

json::value empty_objects(std::size_t size) { return json::array(size, json::object()); }
json::value objects_of_one(std::size_t size) {
    return json::array(size, json::object{{name_of(size / 2), "v"}});
}
json::value texts(std::size_t size) { return fields(size, "v"); }
json::value numbers(std::size_t size) { return fields(size, 1); }
json::value unknown(std::size_t size) {
    json::object all;
    for (std::size_t i = 0; i < size; ++i) all[fmt::format("q{}", i)] = "v";
    return all;
}
json::value last_choices(std::size_t size) {
    return json::array(size, json::value(name_of(size - 1)));
}
json::value no_choices(std::size_t size) { return json::array(size, json::value("none")); }

class SchemaGrowth : public ::testing::TestWithParam<Case> {};

TEST_P(SchemaGrowth, IsNoProductOfSchemaAndValue) {
    const Case& of = GetParam();
    EXPECT_LE(
        growth_by_ten(
            of.size,
            [&](std::size_t size) {
                const json::value openapi{
                    {"type", "object"},
                    {"properties",
                     {{"spec", {{"type", "object"}, {"properties", {{"x", of.openapi(size)}}}}}}}};
                auto [schema, causes] = Schema::from_openapi(openapi, "");
                ASSERT_NE(schema, nullptr) << causes.at(0).message;
                json::value value{{"spec", {{"x", of.value(size)}}}};
                find_unknown(*schema, value);
                prune(*schema, value);
                validate(*schema, value);
                schema->to_openapi();
            }),
        kLinearGrowth);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SchemaGrowth,
    ::testing::Values(Case{"many_fields", object_of_many, texts, 1'500},
                      Case{"wrong_fields", object_of_many, numbers, 1'500},
                      Case{"unknown_fields", object_of_many, unknown, 500},
                      Case{"all_fields_missing", each_needs_all, empty_objects, 1'000},
                      Case{"all_fields_but_one_missing", each_needs_all, objects_of_one, 1'000},
                      Case{"last_choice", choice_of_many, last_choices, 5'000},
                      Case{"no_choice", choice_of_many, no_choices, 5'000},
                      Case{"all_keys_but_one_missing", keyed_by_many, objects_of_one, 1'000}),
    ::testing::PrintToStringParamName());

}  // namespace
}  // namespace muster::kube::schema_growth_test
