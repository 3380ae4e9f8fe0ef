#include "apiserver/internal/printing/cell_text.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::apiserver {
namespace {

TEST(CellText, Selectors) {
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

TEST(CellText, LongListsAreCut) {
    EXPECT_EQ(shortened({}, 2, "<none>"), "<none>");
    EXPECT_EQ(shortened({"a", "b"}, 2, "<none>"), "a,b");
    EXPECT_EQ(shortened({"a", "b", "c", "d"}, 2, "<none>"), "a,b + 2 more...");
}

}  // namespace
}  // namespace muster::apiserver
