#include "kube/values/json_access.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::kube::json_access_test {
namespace {

json::object sample() {
    return json::parse(R"({"metadata": {"name": "web", "namespace": "ml", "uid": "u-1"},
                           "spec": {"replicas": 3, "paused": true, "template": {"spec": "text"}},
                           "list": [{"a": 1}, "b", {"c": 2}, null, "d"]})")
        .get_object();
}

TEST(JsonAccess, ReadsWhatIsThere) {
    const json::object object = sample();
    EXPECT_EQ(name_of(object), "web");
    EXPECT_EQ(namespace_of(object), "ml");
    EXPECT_EQ(uid_of(object), "u-1");
    EXPECT_EQ(int_at(child(object, "spec"), "replicas"), 3);
    EXPECT_TRUE(bool_at(child(object, "spec"), "paused"));
    EXPECT_EQ(value_at_path(object, "spec.template.spec")->as_string(), "text");
    ASSERT_EQ(objects_at(object, "list").size(), 2U);
    EXPECT_TRUE(objects_at(object, "list").back()->contains("c"));
    EXPECT_EQ(strings_at(object, "list"), (std::vector<std::string>{"b", "d"}));
}

TEST(JsonAccess, WhatIsAbsentOrOfAnotherTypeIsNothing) {
    const json::object object = sample();
    for (const char* key : {"none", "list"}) {
        EXPECT_EQ(object_at(object, key), nullptr) << key;
        EXPECT_TRUE(child(object, key).empty()) << key;
        EXPECT_EQ(string_at(object, key), "") << key;
        EXPECT_EQ(int_at(object, key), std::nullopt) << key;
        EXPECT_FALSE(bool_at(object, key)) << key;
        EXPECT_EQ(value_at_path(object, std::string(key) + ".more"), nullptr) << key;
    }
    for (const char* key : {"none", "spec"}) {
        EXPECT_EQ(array_at(object, key), nullptr) << key;
        EXPECT_TRUE(objects_at(object, key).empty()) << key;
        EXPECT_TRUE(strings_at(object, key).empty()) << key;
    }
    EXPECT_EQ(name_of(json::object()), "");
    EXPECT_FALSE(is_deleting(object));
}

TEST(JsonAccess, WhatMayChangeIsChangedInPlace) {
    json::object object = sample();
    object_at(object, "spec")->insert_or_assign("replicas", 4);
    array_at(object, "list")->clear();
    EXPECT_EQ(int_at(child(object, "spec"), "replicas"), 4);
    EXPECT_TRUE(objects_at(object, "list").empty());
}

}  // namespace
}  // namespace muster::kube::json_access_test
