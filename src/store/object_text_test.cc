#include "store/object_text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace muster::store::object_text_test {
namespace {

kube::ObjectPtr tree_of(std::string_view text) {
    return std::make_shared<const json::value>(json::parse(text));
}

TEST(ObjectText, IsTheTextThatTheTreeWouldBeSentAs) {
    const kube::ObjectPtr tree = tree_of(R"({"a": [1, 1.0, "x\u0001\"é"], "b": {}})");
    EXPECT_EQ(ObjectText::of(tree)->text(), json::serialize(*tree));
}

TEST(ObjectText, SharesItsTreeForAsLongAsSomebodyHoldsIt) {
    kube::ObjectPtr tree = tree_of(R"({"a":1})");
    const ObjectTextPtr text = ObjectText::of(tree);
    EXPECT_EQ(text->tree(), tree);
    EXPECT_EQ(text->tree_in_use(), tree);
    tree.reset();
    EXPECT_EQ(text->tree_in_use(), nullptr) << "nobody needs it any more";
    const kube::ObjectPtr made = text->tree();
    EXPECT_EQ(json::serialize(*made), R"({"a":1})");
    EXPECT_EQ(text->tree(), made) << "made once for all who look at the same time";
}

TEST(ObjectText, TakesATreeThatWasMadeElsewhereUnlessItHasOne) {
    const ObjectTextPtr text = ObjectText::read(R"({"a":1})");
    const kube::ObjectPtr made = text->own_tree();
    EXPECT_EQ(text->tree_in_use(), nullptr);
    EXPECT_EQ(text->tree_from(made), made);
    EXPECT_EQ(text->tree(), made);
    EXPECT_EQ(text->tree_from(text->own_tree()), made) << "two threads made one each";
}

TEST(ObjectText, ReadsWhatIsAnObjectAndNothingElse) {
    EXPECT_EQ(ObjectText::read(R"({"a":"\u0000"})")->text(), R"({"a":"\u0000"})");
    EXPECT_NE(ObjectText::read("{\"not\":\"utf-8 \xff\"}"), nullptr) << "it was stored like that";
    for (const char* text : {"", "[]", "1", R"({"a":})", R"({"a":1}x)", R"({"a":1)"})
        EXPECT_EQ(ObjectText::read(text), nullptr) << text;
}

}  // namespace
}  // namespace muster::store::object_text_test
