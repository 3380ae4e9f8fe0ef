#include "kube/internal/schema/schema_types.h"

#include <gtest/gtest.h>

namespace muster::kube::schema_types_test {
namespace {

using Type = Schema::Type;

TEST(SchemaTypes, EachNameStandsForOneTypeAndBack) {
    const struct {
        Type type;
        std::string_view name;
        json::value example;
    } kCases[] = {
        {Type::kObject, "object", json::object{}},
        {Type::kArray, "array", json::array{}},
        {Type::kString, "string", "text"},
        {Type::kInteger, "integer", 3},
        {Type::kNumber, "number", 3.0},
        {Type::kBoolean, "boolean", false},
    };
    for (const auto& row : kCases) {
        EXPECT_EQ(type_name(row.type), row.name);
        EXPECT_EQ(type_named(row.name), row.type) << row.name;
        EXPECT_EQ(type_name(row.example), row.name);
    }
    EXPECT_EQ(type_name(json::value(std::uint64_t{1} << 63)), "integer");
}

TEST(SchemaTypes, WhatOpenapiSaysWithoutATypeHasNoName) {
    EXPECT_EQ(type_name(Type::kAny), "");
    EXPECT_EQ(type_name(Type::kIntOrString), "");
    for (std::string_view name : {"", "any", "null", "Object", "int", "strings"})
        EXPECT_FALSE(type_named(name)) << name;
    EXPECT_EQ(type_name(json::value(nullptr)), "null");
}

TEST(SchemaTypes, MessagesListThemInTheOrderOfTheAlphabet) {
    EXPECT_EQ(known_type_names(), R"("array", "boolean", "integer", "number", "object", "string")");
}

}  // namespace
}  // namespace muster::kube::schema_types_test
