#include "apiserver/watching/selection.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace muster::apiserver::selection_test {
namespace {

/// The same answer, whether the tree is held or the text is searched.
TEST(Selection, MatchesATextAsItMatchesATree) {
    ResourceDef def;
    def.type = {.group = "", .version = "v1", .plural = "pods", .kind = "Pod"};
    def.selectable_fields = {"spec.nodeName", "status.phase", "spec.hostNetwork"};
    const char* const objects[] = {
        R"({"metadata":{"name":"a","namespace":"n","labels":{"app":"x","tier":"1"}},"spec":{"nodeName":"one"}})",
        R"({"spec":{"nodeName":"","hostNetwork":true},"metadata":{"name":"b","labels":{"app":"\"y\""}},"status":{"phase":"Running"}})",
        R"({"metadata":{"name":"c"},"status":{"phase":null}})",
        R"({"metadata":{"labels":"none","name":"d"},"spec":[]})",
    };
    struct Row {
        const char* labels;
        const char* fields;
        const char* matched;
    };
    const Row kRows[] = {
        {"app=x", "", "a"},
        {"app", "", "ab"},
        {"!app", "", "cd"},
        {"app notin (x)", "", "bcd"},
        {"app=x,tier=2", "", ""},
        {"", "metadata.name=b", "b"},
        {"", "metadata.namespace=n", "a"},
        {"", "spec.nodeName=one", "a"},
        {"", "spec.nodeName!=one", "bcd"},
        {"", "spec.nodeName=", "bcd"},
        {"", "status.phase=Running", "b"},
        {"", "spec.hostNetwork=true", "b"},
        {"", "spec.hostNetwork=false", "acd"},
        {"app", "status.phase!=Running", "a"},
    };
    for (const Row& row : kRows) {
        const auto selection = Selection::make(def, "", row.labels, row.fields);
        ASSERT_TRUE(selection.has_value()) << selection.error().error.message();
        std::string by_text;
        std::string by_tree;
        for (const char* text : objects) {
            const store::ObjectTextPtr object = store::ObjectText::read(text);
            const std::string name(json::parse(text).at("metadata").at("name").as_string());
            ASSERT_EQ(object->tree_in_use(), nullptr);
            if (selection->matches(*object)) by_text += name;
            const kube::ObjectPtr held = object->tree();
            if (selection->matches(*object)) by_tree += name;
        }
        EXPECT_EQ(by_text, row.matched) << row.labels << " " << row.fields;
        EXPECT_EQ(by_tree, row.matched) << row.labels << " " << row.fields;
    }
}

}  // namespace
}  // namespace muster::apiserver::selection_test
