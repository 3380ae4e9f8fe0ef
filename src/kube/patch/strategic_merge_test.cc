#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <ostream>

#include "base/test_growth.h"
#include "kube/patch/patch.h"
#include "kube/schema/schema.h"

namespace muster::kube::strategic_merge_test {
namespace {

using testing::HasSubstr;

struct Row {
    const char* name;
    const char* kind;  ///< of the core schema
    const char* target;
    const char* patch;
    const char* result;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class StrategicMerge : public testing::TestWithParam<Row> {};

TEST_P(StrategicMerge, Gives) {
    const Row& row = GetParam();
    const Schema::Ptr schema = core_schema(row.kind);
    ASSERT_TRUE(schema) << row.kind;
    const json::value target = json::parse(row.target);
    Result<json::value> result =
        apply_strategic_merge_patch(target, json::parse(row.patch), *schema);
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(*result, json::parse(row.result)) << json::serialize(*result);
    EXPECT_EQ(target, json::parse(row.target));
}

// apimachinery pkg/util/strategicpatch/patch_test.go (TestStrategicMergePatch,
// TestCustomStrategicMergePatch and their tables, by description), in terms of the built-in kinds.
INSTANTIATE_TEST_SUITE_P(
    Objects, StrategicMerge,
    testing::Values(
        Row{"empty patch", "Pod", R"({"metadata":{"name":"p"}})", "{}",
            R"({"metadata":{"name":"p"}})"},
        Row{"add new field", "ConfigMap", R"({"data":{"a":"1"}})", R"({"data":{"b":"2"}})",
            R"({"data":{"a":"1","b":"2"}})"},
        Row{"remove field and add new field", "ConfigMap", R"({"data":{"a":"1"}})",
            R"({"data":{"a":null,"b":"2"}})", R"({"data":{"b":"2"}})"},
        Row{"unmatched nulls are ignored", "ConfigMap", R"({"data":{"a":"1"}})",
            R"({"data":{"b":null},"binaryData":null})", R"({"data":{"a":"1"}})"},
        Row{"nested nulls of a new field are dropped", "Pod", "{}",
            R"({"spec":{"nodeName":"n","hostname":null}})", R"({"spec":{"nodeName":"n"}})"},
        Row{"a field changes its type", "ConfigMap", R"({"data":["x"]})", R"({"data":{"a":"1"}})",
            R"({"data":{"a":"1"}})"},
        Row{"a field that the schema does not know merges as an object", "Pod",
            R"({"odd":{"a":1,"l":[1]}})", R"({"odd":{"b":2,"l":[2]}})",
            R"({"odd":{"a":1,"b":2,"l":[2]}})"},
        Row{"$patch: replace replaces the object", "ConfigMap", R"({"data":{"a":"1","b":"2"}})",
            R"({"data":{"$patch":"replace","c":"3"}})", R"({"data":{"c":"3"}})"},
        Row{"$patch: replace at the root", "ConfigMap", R"({"data":{"a":"1"},"kind":"ConfigMap"})",
            R"({"$patch":"replace","data":{"b":"2"}})", R"({"data":{"b":"2"}})"},
        Row{"$patch: delete empties the object", "ConfigMap", R"({"data":{"a":"1"}})",
            R"({"data":{"$patch":"delete"}})", R"({"data":{}})"},
        Row{"$patch: merge is what happens anyway", "ConfigMap", R"({"data":{"a":"1"}})",
            R"({"data":{"$patch":"merge","b":"2"}})", R"({"data":{"a":"1","b":"2"}})"},
        Row{"directives of a new field are dropped", "Pod", "{}",
            R"({"metadata":{"labels":{"$patch":"replace","a":"b"},"annotations":{"$patch":"delete"},
                "$deleteFromPrimitiveList/finalizers":["x"]},
                "spec":{"containers":[{"name":"a"},{"$patch":"delete","name":"b"},
                                      {"$patch":"replace"}],
                        "$setElementOrder/containers":[{"name":"a"}]}})",
            R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a"}]}})"}));

INSTANTIATE_TEST_SUITE_P(
    KeyedLists, StrategicMerge,
    testing::Values(
        Row{"merge into the item with the key", "Pod",
            R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]}})",
            R"({"spec":{"containers":[{"name":"b","image":"2"}]}})",
            R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"}]}})"},
        Row{"new items go first", "Pod", R"({"spec":{"containers":[{"name":"a"}]}})",
            R"({"spec":{"containers":[{"name":"b"},{"name":"c"}]}})",
            R"({"spec":{"containers":[{"name":"b"},{"name":"c"},{"name":"a"}]}})"},
        Row{"an old item between new ones keeps its place among them", "Pod",
            R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}})",
            R"({"spec":{"containers":[{"name":"x"},{"name":"b"},{"name":"y"}]}})",
            R"({"spec":{"containers":[{"name":"x"},{"name":"a"},{"name":"b"},{"name":"y"},
                                      {"name":"c"}]}})"},
        Row{"the order of the patch wins", "Pod",
            R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
            R"({"spec":{"containers":[{"name":"b"},{"name":"a"}]}})",
            R"({"spec":{"containers":[{"name":"b"},{"name":"a"}]}})"},
        Row{"delete an item", "Pod",
            R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}})",
            R"({"spec":{"containers":[{"name":"b","$patch":"delete"}]}})",
            R"({"spec":{"containers":[{"name":"a"},{"name":"c"}]}})"},
        Row{"delete an item that is not there", "Pod", R"({"spec":{"containers":[{"name":"a"}]}})",
            R"({"spec":{"containers":[{"name":"b","$patch":"delete"},{"name":"a","image":"i"}]}})",
            R"({"spec":{"containers":[{"name":"a","image":"i"}]}})"},
        Row{"replace the list", "Pod", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
            R"({"spec":{"containers":[{"name":"c","image":"i"},{"$patch":"replace"}]}})",
            R"({"spec":{"containers":[{"name":"c","image":"i"}]}})"},
        Row{"replace the list by nothing", "Pod", R"({"spec":{"volumes":[{"name":"a"}]}})",
            R"({"spec":{"volumes":[{"$patch":"replace"}]}})", R"({"spec":{"volumes":[]}})"},
        Row{"an empty list in the patch changes nothing", "Pod",
            R"({"spec":{"containers":[{"name":"a"}]}})", R"({"spec":{"containers":[]}})",
            R"({"spec":{"containers":[{"name":"a"}]}})"},
        Row{"lists in items merge too", "Pod",
            R"({"spec":{"containers":[{"name":"a","env":[{"name":"X","value":"1"}],
                "ports":[{"containerPort":80,"name":"http"}],"command":["a","b"],
                "volumeMounts":[{"mountPath":"/v","name":"v"}]}]}})",
            R"({"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"2"}],
                "ports":[{"containerPort":80,"protocol":"TCP"},{"containerPort":81}],
                "command":["c"],"volumeMounts":[{"mountPath":"/v","readOnly":true}]}]}})",
            R"({"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"2"},
                {"name":"X","value":"1"}],
                "ports":[{"containerPort":80,"name":"http","protocol":"TCP"},
                         {"containerPort":81}],
                "command":["c"],"volumeMounts":[{"mountPath":"/v","name":"v","readOnly":true}]}]}})"},
        Row{"items with one key merge one after the other", "Pod",
            R"({"spec":{"containers":[{"name":"a","env":[{"name":"X","value":"1"}],"tty":true}]}})",
            R"({"spec":{"containers":[{"name":"a","env":[{"name":"Y"}]},
                {"name":"b","image":"1"},{"name":"a","env":[{"name":"Z"}],"tty":null},
                {"name":"b","image":"2"},{"name":"a","env":[{"name":"X","value":"2"}]}]}})",
            R"({"spec":{"containers":[{"name":"a","env":[{"name":"Z"},{"name":"Y"},
                {"name":"X","value":"2"}]},{"name":"b","image":"2"}]}})"},
        Row{"a field of an item is removed", "Pod",
            R"({"spec":{"containers":[{"name":"a","image":"1","tty":true}]}})",
            R"({"spec":{"containers":[{"name":"a","tty":null}]}})",
            R"({"spec":{"containers":[{"name":"a","image":"1"}]}})"},
        Row{"lists without a key are replaced", "Pod", R"({"spec":{"tolerations":[{"key":"a"}]}})",
            R"({"spec":{"tolerations":[{"key":"b"}]}})",
            R"({"spec":{"tolerations":[{"key":"b"}]}})"},
        Row{"containerStatuses are replaced, conditions merged", "Pod",
            R"({"status":{"containerStatuses":[{"name":"a"},{"name":"b"}],
                "conditions":[{"type":"Ready","status":"False","reason":"R"}]}})",
            R"({"status":{"containerStatuses":[{"name":"b"}],
                "conditions":[{"type":"Ready","status":"True"}]}})",
            R"({"status":{"containerStatuses":[{"name":"b"}],
                "conditions":[{"type":"Ready","status":"True","reason":"R"}]}})"},
        Row{"service ports merge by port", "Service",
            R"({"spec":{"ports":[{"port":80,"name":"a"},{"port":81,"name":"b"}]}})",
            R"({"spec":{"ports":[{"port":81,"name":"c"}]}})",
            R"({"spec":{"ports":[{"port":80,"name":"a"},{"port":81,"name":"c"}]}})"},
        Row{"owner references merge by uid", "Pod",
            R"({"metadata":{"ownerReferences":[{"uid":"1","name":"a"}]}})",
            R"({"metadata":{"ownerReferences":[{"uid":"1","controller":true},{"uid":"2"}]}})",
            R"({"metadata":{"ownerReferences":[{"uid":"1","name":"a","controller":true},
                                               {"uid":"2"}]}})"},
        Row{"an owner reference is deleted by uid", "Pod",
            R"({"metadata":{"ownerReferences":[{"uid":"1","name":"a"},{"uid":"2"}]}})",
            R"({"metadata":{"uid":"u","ownerReferences":[{"$patch":"delete","uid":"1"}]}})",
            R"({"metadata":{"uid":"u","ownerReferences":[{"uid":"2"}]}})"}));

INSTANTIATE_TEST_SUITE_P(
    ElementOrder, StrategicMerge,
    testing::Values(
        Row{"only the order changes", "Pod",
            R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}})",
            R"({"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"},{"name":"b"}]}})",
            R"({"spec":{"containers":[{"name":"c"},{"name":"a"},{"name":"b"}]}})"},
        Row{"a new item goes where the order says", "Pod",
            R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
            R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"x"},{"name":"b"}],
                "containers":[{"name":"x","image":"i"}]}})",
            R"({"spec":{"containers":[{"name":"a"},{"name":"x","image":"i"},{"name":"b"}]}})"},
        Row{"the server's own items keep their places", "Pod",
            R"({"spec":{"containers":[{"name":"a"},{"name":"server"},{"name":"b"}]}})",
            R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"},{"name":"x"}],
                "containers":[{"name":"x"}]}})",
            R"({"spec":{"containers":[{"name":"server"},{"name":"b"},{"name":"a"},
                                      {"name":"x"}]}})"},
        Row{"delete and order", "Pod",
            R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}})",
            R"({"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"}],
                "containers":[{"$patch":"delete","name":"b"}]}})",
            R"({"spec":{"containers":[{"name":"c"},{"name":"a"}]}})"},
        Row{"the order of a list that is nowhere is ignored", "Pod", R"({"spec":{}})",
            R"({"spec":{"$setElementOrder/containers":[{"name":"a"}]}})", R"({"spec":{}})"},
        Row{"the list is added", "Pod", R"({"spec":{}})",
            R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],
                "containers":[{"name":"a"}]}})",
            R"({"spec":{"containers":[{"name":"a"}]}})"},
        Row{"the list is removed", "Pod", R"({"spec":{"volumes":[{"name":"a"}]}})",
            R"({"spec":{"$setElementOrder/volumes":[{"name":"a"}],"volumes":null}})",
            R"({"spec":{}})"},
        Row{"kubectl apply adds a variable behind another", "Pod",
            R"({"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"1"}]}]}})",
            R"({"spec":{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"name":"c",
                "$setElementOrder/env":[{"name":"A"},{"name":"B"}],
                "env":[{"name":"B","value":"2"}]}]}})",
            R"({"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"1"},
                                                         {"name":"B","value":"2"}]}]}})"}));

INSTANTIATE_TEST_SUITE_P(
    Scalars, StrategicMerge,
    testing::Values(
        Row{"finalizers are a union, new ones first", "Pod",
            R"({"metadata":{"finalizers":["a/b","c/d"]}})",
            R"({"metadata":{"finalizers":["e/f","c/d"]}})",
            R"({"metadata":{"finalizers":["e/f","a/b","c/d"]}})"},
        Row{"$deleteFromPrimitiveList", "Pod", R"({"metadata":{"finalizers":["a/b","c/d"]}})",
            R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a/b","x/y"]}})",
            R"({"metadata":{"finalizers":["c/d"]}})"},
        Row{"$deleteFromPrimitiveList of a list that is not there", "Pod", R"({"metadata":{}})",
            R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a/b"]}})",
            R"({"metadata":{}})"},
        Row{"delete, add and order", "Pod", R"({"metadata":{"finalizers":["a/b","c/d"]}})",
            R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a/b"],
                "$setElementOrder/finalizers":["c/d","e/f"],"finalizers":["e/f"]}})",
            R"({"metadata":{"finalizers":["c/d","e/f"]}})"},
        Row{"a list of scalars without a strategy is replaced", "Pod",
            R"({"spec":{"containers":[{"name":"a","args":["1","2"]}]}})",
            R"({"spec":{"containers":[{"name":"a","args":["3"]}]}})",
            R"({"spec":{"containers":[{"name":"a","args":["3"]}]}})"}));

INSTANTIATE_TEST_SUITE_P(
    RetainKeys, StrategicMerge,
    testing::Values(
        Row{"a volume changes its source", "Pod",
            R"({"spec":{"volumes":[{"name":"v","emptyDir":{"medium":"Memory"}},{"name":"w"}]}})",
            R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name","hostPath"],
                "hostPath":{"path":"/p"}}]}})",
            R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/p"}},{"name":"w"}]}})"},
        Row{"only the keys", "Pod", R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
            R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name"]}]}})",
            R"({"spec":{"volumes":[{"name":"v"}]}})"},
        Row{"a new volume", "Pod", R"({"spec":{"volumes":[]}})",
            R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name","emptyDir"],
                "emptyDir":{}}]}})",
            R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})"}));

struct BadRow {
    const char* name;
    const char* target;
    const char* patch;
    Code code;
    const char* message;
};

TEST(StrategicMergeErrors, AreSaid) {
    constexpr BadRow kRows[] = {
        {"not an object", "{}", "[]", Code::kBadRequest, "must be an object"},
        {"target not an object", "[]", "{}", Code::kBadRequest, "only an object"},
        {"missing merge key", R"({"spec":{"containers":[{"name":"a"}]}})",
         R"({"spec":{"containers":[{"image":"x"}]}})", Code::kInternal,
         "spec.containers[0]: {\"image\":\"x\"} does not contain declared merge key: name"},
        {"delete without the key", R"({"spec":{"containers":[{"name":"a"}]}})",
         R"({"spec":{"containers":[{"$patch":"delete"}]}})", Code::kInternal,
         "does not contain declared merge key: name"},
        {"scalar among objects", R"({"spec":{"containers":[{"name":"a"}]}})",
         R"({"spec":{"containers":["a"]}})", Code::kBadRequest, "items must be objects"},
        {"object among scalars", R"({"metadata":{"finalizers":["a"]}})",
         R"({"metadata":{"finalizers":[{"a":1}]}})", Code::kBadRequest,
         "items must not be objects"},
        {"unknown directive", R"({"spec":{}})", R"({"spec":{"$patch":"explode"}})",
         Code::kBadRequest, "unknown $patch \"explode\""},
        {"directive of a wrong type", R"({"spec":{}})", R"({"spec":{"$patch":1}})",
         Code::kBadRequest, "unknown $patch 1"},
        {"retainKeys without a key that is set", R"({"spec":{"volumes":[{"name":"v"}]}})",
         R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name"],"emptyDir":{}}]}})",
         Code::kBadRequest, "\"emptyDir\" is set, but $retainKeys does not name it"},
        {"retainKeys of a wrong type", R"({"spec":{"volumes":[{"name":"v"}]}})",
         R"({"spec":{"volumes":[{"name":"v","$retainKeys":"name"}]}})", Code::kBadRequest,
         "$retainKeys must be a list"},
        {"order that the patch contradicts", R"({"spec":{"containers":[]}})",
         R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],
             "containers":[{"name":"b"},{"name":"a"}]}})",
         Code::kBadRequest, "differs from $setElementOrder"},
        {"order without an item of the patch", R"({"spec":{"containers":[]}})",
         R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"b"}]}})",
         Code::kBadRequest, "differs from $setElementOrder"},
        {"order of what is not a list", R"({"spec":{"containers":{}}})",
         R"({"spec":{"$setElementOrder/containers":[{"name":"a"}]}})", Code::kBadRequest,
         "not a list"},
        {"order that is not a list", "{}", R"({"$setElementOrder/x":1})", Code::kBadRequest,
         "must be a list"},
        {"deletions that are no list", "{}", R"({"$deleteFromPrimitiveList/x":1})",
         Code::kBadRequest, "must be a list"},
    };
    for (const BadRow& row : kRows) {
        Result<json::value> result = apply_strategic_merge_patch(
            json::parse(row.target), json::parse(row.patch), *core_schema("Pod"));
        ASSERT_FALSE(result) << row.name;
        EXPECT_EQ(result.error().code(), row.code) << row.name;
        EXPECT_THAT(result.error().message(), HasSubstr(row.message)) << row.name;
    }
}

TEST(StrategicMergeCost, GrowsWithTheListAndNotItsSquare) {
    json::array before;
    json::array change;
    for (int i = 0; i < 20'000; ++i) {
        const std::string name = "V" + std::to_string(i);
        before.push_back({{"name", name}, {"value", "1"}});
        change.push_back({{"name", name}, {"value", "2"}});
    }
    auto pod = [](const json::array& env) {
        return json::value{{"spec", {{"containers", json::array{{{"name", "c"}, {"env", env}}}}}}};
    };
    Result<json::value> result =
        apply_strategic_merge_patch(pod(before), pod(change), *core_schema("Pod"));
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(*result, pod(change));
}

// Patches of a size whose work may not grow with its square; they may be refused.

/// Many members, for items to be large.
json::object members(std::size_t count) {
    json::object all;
    for (std::size_t i = 0; i < count; ++i) all["m" + std::to_string(i)] = "v";
    return all;
}

json::value pod_of(json::array containers) {
    return {{"spec", {{"containers", std::move(containers)}}}};
}

json::value one_container_many_times(std::size_t size) {
    json::array containers;
    for (std::size_t i = 0; i < size; ++i)
        containers.push_back(
            {{"name", "c"}, {"env", json::array{{{"name", "V" + std::to_string(i)}}}}});
    return pod_of(std::move(containers));
}

json::value one_variable_many_times(std::size_t size) {
    json::object large = members(size);
    large["name"] = "V";
    json::array env{std::move(large)};
    for (std::size_t i = 0; i < size; ++i)
        env.push_back({{"name", "V"}, {"m" + std::to_string(i), nullptr}});
    return pod_of({{{"name", "c"}, {"env", json::array{{{"name", "V"}}}}},
                   {{"name", "c"}, {"env", std::move(env)}}});
}

json::value removed_many_times(std::size_t size) {
    json::object large = members(size);
    large["name"] = "c";
    json::array containers{std::move(large)};
    for (std::size_t i = 0; i < size; ++i)
        containers.push_back({{"name", "c"},
                              {"resources", {{"limits", {{"$patch", "merge"}}}}},
                              {"m0", nullptr},
                              {"m1", nullptr}});
    return pod_of(std::move(containers));
}

/// The path of each member would have the key.
json::value below_a_long_key(std::size_t size) {
    json::object inner;
    for (std::size_t i = 0; i < size; ++i) inner["m" + std::to_string(i)] = json::object();
    const json::object item{{"name", "c"}, {std::string(20 * size, 'k'), std::move(inner)}};
    return pod_of({item, item});
}

struct GrowthRow {
    const char* name;
    json::value (*patch)(std::size_t size);
    std::size_t size;
};

void PrintTo(const GrowthRow& row, std::ostream* out) { *out << row.name; }

class StrategicMergeGrowth : public testing::TestWithParam<GrowthRow> {};

TEST_P(StrategicMergeGrowth, IsNotTheSquareOfThePatch) {
    const GrowthRow& row = GetParam();
    const json::value target = json::parse(R"({"spec":{"containers":[{"name":"c"}]}})");
    const Schema::Ptr schema = core_schema("Pod");
    const json::value patches[] = {row.patch(row.size), row.patch(10 * row.size)};
    EXPECT_LE(growth_by_ten(row.size,
                            [&](std::size_t size) {
                                (void)apply_strategic_merge_patch(
                                    target, patches[size == row.size ? 0 : 1], *schema);
                            }),
              kLinearGrowth);
}

INSTANTIATE_TEST_SUITE_P(Shapes, StrategicMergeGrowth,
                         testing::Values(GrowthRow{"one_container", one_container_many_times,
                                                   1'000},
                                         GrowthRow{"one_variable", one_variable_many_times, 500},
                                         GrowthRow{"removed_members", removed_many_times, 300},
                                         GrowthRow{"a_long_key", below_a_long_key, 1'000}),
                         testing::PrintToStringParamName());

TEST(StrategicMergeCost, RepeatedKeysAreRefusedOnlyWhereTheyAreMuchWork) {
    const json::value target = json::parse(R"({"spec":{"containers":[{"name":"c"}]}})");
    Result<json::value> some =
        apply_strategic_merge_patch(target, one_container_many_times(100), *core_schema("Pod"));
    ASSERT_TRUE(some) << some.error().message();
    const json::array& env = some->at("spec").at("containers").at(0).at("env").as_array();
    ASSERT_EQ(env.size(), 100u);
    EXPECT_EQ(env.front().at("name"), "V99") << "new items go first";

    for (const std::size_t count : {std::size_t{2'000}, std::size_t{70'000}}) {
        const Result<json::value> many = apply_strategic_merge_patch(
            target, one_container_many_times(count), *core_schema("Pod"));
        ASSERT_FALSE(many) << count;
        EXPECT_EQ(many.error().code(), Code::kBadRequest);
        EXPECT_THAT(many.error().message(),
                    testing::MatchesRegex(R"(strategic merge patch: spec.containers\[[0-9]+\]: )"
                                          R"(the list names "c" too often.*)"));
    }

    // Ports of two protocols have one key, and clients send them all.
    json::array ports;
    for (int port = 1; port <= 2'000; ++port)
        for (const char* protocol : {"TCP", "UDP"})
            ports.push_back({{"port", port}, {"protocol", protocol}});
    const Result<json::value> service = apply_strategic_merge_patch(
        json::object(), {{"spec", {{"ports", ports}}}}, *core_schema("Service"));
    EXPECT_TRUE(service) << service.error().message();
    const Result<json::value> again = apply_strategic_merge_patch(
        *service, {{"spec", {{"ports", ports}}}}, *core_schema("Service"));
    EXPECT_TRUE(again) << again.error().message();
}

}  // namespace
}  // namespace muster::kube::strategic_merge_test
