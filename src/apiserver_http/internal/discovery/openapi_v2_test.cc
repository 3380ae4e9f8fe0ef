#include "apiserver_http/internal/discovery/openapi_v2.h"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <map>
#include <set>

#include "apiserver/registry_fixture.h"
#include "apiserver_http/internal/discovery/openapi.h"
#include "apiserver_http/internal/discovery/references_fixture.h"
#include "apiserver_http/internal/protobuf/wire_reader.h"

namespace muster::apiserver_http::openapi_v2_test {
namespace {

class OpenApiV2Test : public ::testing::Test, protected apiserver::RegistryFixture {
  protected:
    json::value document() { return json::parse(documents_.version_2()->text); }

    apiserver::ExtensionServers extensions_;
    OpenApiDocuments documents_{registry_, extensions_};
};

json::value definition(std::string_view schema) {
    const json::value v3 = json::object{
        {"components", {{"schemas", {{"X", json::parse(json::string_view(schema))}}}}}};
    return openapi_v2(std::span(&v3, 1)).at("definitions").at("X");
}

TEST(OpenApiV2, SaysWhatVersion3SaysInItsOwnWords) {
    struct Row {
        const char* why;
        const char* v3;
        const char* v2;
    };
    constexpr Row kRows[] = {
        {"a reference with more beside it",
         R"({"allOf":[{"$ref":"#/components/schemas/a.B"}],"description":"d","default":{}})",
         R"({"$ref":"#/definitions/a.B","description":"d","default":{}})"},
        {"nested", R"({"type":"object","required":["a"],"properties":{"a":{"type":"array","items":
             {"$ref":"#/components/schemas/C"}},"b":{"type":"object","additionalProperties":
             {"allOf":[{"$ref":"#/components/schemas/C"}]}}}})",
         R"({"type":"object","required":["a"],"properties":{"a":{"type":"array","items":
             {"$ref":"#/definitions/C"}},"b":{"type":"object","additionalProperties":
             {"$ref":"#/definitions/C"}}}})"},
        {"a number or a text", R"({"oneOf":[{"type":"string"},{"type":"integer"}]})",
         R"({"type":"string","format":"int-or-string"})"},
        {"a quantity", R"({"oneOf":[{"type":"string"},{"type":"number"}]})",
         R"({"type":"string"})"},
        {"what it has no words for",
         R"({"type":"string","nullable":true,"anyOf":[{"type":"string"}],"not":{"type":"object"}})",
         R"({"type":"string"})"},
        {"any fields",
         R"({"type":"object","x-kubernetes-preserve-unknown-fields":true,"required":["a"],
             "properties":{"a":{"type":"string"}}})",
         R"({"x-kubernetes-preserve-unknown-fields":true})"},
        {"what clients merge by",
         R"({"type":"array","items":{"type":"string"},"x-kubernetes-patch-merge-key":"k"})",
         R"({"type":"array","items":{"type":"string"},"x-kubernetes-patch-merge-key":"k"})"},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(definition(row.v3), json::parse(row.v2))
            << row.why << ": " << json::serialize(definition(row.v3));
}

TEST_F(OpenApiV2Test, EveryReferenceHasItsDefinition) {
    define("things", "Thing", "a.org", R"({"name":"v1","served":true,"storage":true})");
    const json::value whole = document();
    EXPECT_EQ(whole.at("swagger"), "2.0");
    const json::object& definitions = whole.at("definitions").as_object();
    std::set<std::string> names;
    collect_references(whole, names);
    EXPECT_GT(names.size(), 100u);
    for (const std::string& name : names) {
        ASSERT_TRUE(name.starts_with("#/definitions/")) << name;
        EXPECT_TRUE(definitions.contains(name.substr(name.rfind('/') + 1))) << name;
    }
    EXPECT_EQ(definitions.at("io.k8s.api.core.v1.Pod").at("x-kubernetes-group-version-kind"),
              json::parse(R"([{"group":"","version":"v1","kind":"Pod"}])"));
    EXPECT_TRUE(definitions.contains("org.a.v1.Thing"));
}

TEST_F(OpenApiV2Test, OperationsHaveTheirParameters) {
    const json::value whole = document();
    const json::value& patch =
        whole.at("paths").at("/api/v1/namespaces/{namespace}/configmaps/{name}").at("patch");
    EXPECT_EQ(patch.at("x-kubernetes-group-version-kind"),
              json::parse(R"({"group":"","version":"v1","kind":"ConfigMap"})"));
    std::set<std::string> names;
    for (const json::value& parameter : patch.at("parameters").as_array())
        names.emplace(fmt::format("{} {}", std::string_view(parameter.at("in").as_string()),
                                  std::string_view(parameter.at("name").as_string())));
    EXPECT_TRUE(names.contains("query dryRun"));
    EXPECT_TRUE(names.contains("body body"));
    EXPECT_EQ(patch.at("consumes").as_array().size(), 4u);
}

TEST_F(OpenApiV2Test, IsMadeAgainWhenTheDefinitionsChange) {
    const auto first = documents_.version_2();
    EXPECT_EQ(documents_.version_2(), first);
    define("things", "Thing", "a.org", R"({"name":"v1","served":true,"storage":true})");
    EXPECT_NE(documents_.version_2()->hash, first->hash);
}

/// The fields of a message that are texts or messages, by number.
std::multimap<std::uint32_t, std::string_view> fields_of(std::string_view message) {
    std::multimap<std::uint32_t, std::string_view> fields;
    WireReader reader(message, message);
    while (!reader.done()) {
        const auto tag = reader.tag();
        EXPECT_TRUE(tag.has_value());
        if (!tag) break;
        if (tag->type == WireType::kBytes)
            fields.emplace(tag->number, *reader.bytes());
        else
            EXPECT_TRUE(reader.skip(tag->type).has_value());
    }
    return fields;
}

std::string_view part(std::string_view message, std::initializer_list<std::uint32_t> path) {
    for (const std::uint32_t number : path) {
        const auto fields = fields_of(message);
        const auto found = fields.find(number);
        if (found == fields.end()) return "absent";
        message = found->second;
    }
    return message;
}

/// The value of a list of pairs of a name and a message.
std::string_view named(std::string_view message, std::uint32_t number, std::string_view name) {
    const auto fields = fields_of(message);
    for (auto [entry, end] = fields.equal_range(number); entry != end; ++entry)
        if (part(entry->second, {1}) == name) return part(entry->second, {2});
    return {};
}

TEST(OpenApiV2Protobuf, IsTheMessageThatGoReads) {
    const json::value document = json::parse(R"({"swagger":"2.0","info":{"title":"t","version":"v"},
        "definitions":{"X":{"type":"object","description":"d","required":["a"],"properties":{
            "a":{"$ref":"#/definitions/Y"},"b":{"type":"array","items":{"type":"string"}},
            "c":{"type":"object","additionalProperties":{"format":"byte","type":"string"}}},
            "x-k":[{"kind":"X"}]}},
        "paths":{"/p":{"patch":{"operationId":"o","parameters":[
            {"name":"dryRun","in":"query","type":"string"},
            {"name":"body","in":"body","schema":{"type":"object"}}],
            "x-kubernetes-action":"patch"},
            "parameters":[{"name":"name","in":"path","type":"string","required":true}]}}})");
    const std::string bytes = openapi_v2_protobuf(document.get_object());
    EXPECT_EQ(part(bytes, {1}), "2.0");
    EXPECT_EQ(part(bytes, {2, 1}), "t");
    const std::string_view x = named(part(bytes, {9}), 1, "X");
    EXPECT_EQ(part(x, {4}), "d");
    EXPECT_EQ(part(x, {19}), "a");
    EXPECT_EQ(part(x, {22, 1}), "object");
    EXPECT_EQ(part(named(x, 31, "x-k"), {2}), "[{\"kind\":\"X\"}]\n");
    EXPECT_EQ(part(named(part(x, {25}), 1, "a"), {1}), "#/definitions/Y");
    EXPECT_EQ(part(named(part(x, {25}), 1, "b"), {23, 1, 22, 1}), "string");
    EXPECT_EQ(part(named(part(x, {25}), 1, "c"), {21, 1, 2}), "byte");
    const std::string_view path = named(part(bytes, {8}), 2, "/p");
    EXPECT_EQ(part(path, {8, 5}), "o");
    EXPECT_EQ(part(path, {8, 8, 1, 2, 3, 4}), "dryRun");
    EXPECT_EQ(part(path, {8, 8, 1, 2, 3, 6}), "string");
    EXPECT_EQ(part(path, {9, 1, 2, 4, 4}), "name");
    EXPECT_EQ(part(path, {9, 1, 2, 4, 5}), "string");
    EXPECT_EQ(part(named(part(path, {8}), 13, "x-kubernetes-action"), {2}), "\"patch\"\n");
}

TEST_F(OpenApiV2Test, TheProtobufHasEveryDefinition) {
    const json::value whole = document();
    const std::string& bytes = documents_.version_2_protobuf()->text;
    EXPECT_EQ(fields_of(part(bytes, {9})).count(1), whole.at("definitions").as_object().size());
    EXPECT_EQ(fields_of(part(bytes, {8})).count(2), whole.at("paths").as_object().size());
}

}  // namespace
}  // namespace muster::apiserver_http::openapi_v2_test
