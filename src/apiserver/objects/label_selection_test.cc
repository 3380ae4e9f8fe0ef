#include "apiserver/objects/label_selection.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::apiserver::label_selection_test {
namespace {

TEST(LabelSelection, IsWrittenAsKubectlWritesIt) {
    struct Row {
        const char* selector;
        const char* text;
    };
    constexpr Row kRows[] = {
        {"{}", "<none>"},
        {R"({"matchLabels":{"b":"2","a":"1"}})", "a=1,b=2"},
        {R"({"matchExpressions":[{"key":"k","operator":"In","values":["y","x"]}]})", "k in (x,y)"},
        {R"({"matchLabels":{"z":"1"},"matchExpressions":[
            {"key":"n","operator":"NotIn","values":["x"]},
            {"key":"a","operator":"Exists"},{"key":"b","operator":"DoesNotExist"}]})",
         "a,!b,n notin (x),z=1"},
    };
    for (const Row& row : kRows) {
        const json::value selector = json::parse(row.selector);
        EXPECT_EQ(selector_text(&selector.get_object()), row.text);
    }
    EXPECT_EQ(selector_text(nullptr), "<none>");
}

}  // namespace
}  // namespace muster::apiserver::label_selection_test
