#include "manifest/yaml/source_map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace muster::manifest::source_map_test {
namespace {

SourcePtr node_with(const std::vector<std::string>& names, std::size_t others) {
    auto node = std::make_shared<SourceNode>();
    int line = 1;
    for (const std::string& name : names)
        node->children.push_back({name, {line++, 1}, std::make_shared<SourceNode>()});
    for (std::size_t i = 0; i < others; ++i)
        node->children.push_back(
            {fmt::format("b{}", i), {line++, 1}, std::make_shared<SourceNode>()});
    return node;
}

/// It makes no difference how many children there are.
TEST(Locate, TakesTheLongestKeyThatEndsInThePath) {
    const std::vector<std::string> names = {"a",   "a.b", "a.b.c", "a.bc", "ab",
                                            "a[0", "",    "ä",     "a.b.d"};
    for (const std::size_t others :
         {std::size_t{0}, std::size_t{5}, std::size_t{8}, std::size_t{100}}) {
        const SourcePtr root = node_with(names, others);
        const auto line_of = [&](std::string_view path) { return locate(root, path).key.line; };
        EXPECT_EQ(line_of("a"), 1) << others;
        EXPECT_EQ(line_of("a.x"), 1) << others;
        EXPECT_EQ(line_of("a.b"), 2) << others;
        EXPECT_EQ(line_of("a.b.x"), 2) << others;
        EXPECT_EQ(line_of("a.b[1]"), 2) << others;
        EXPECT_EQ(line_of("a.b.c.d"), 3) << others;
        EXPECT_EQ(line_of("a.b.cd"), 2) << others;
        EXPECT_EQ(line_of("a.bc"), 4) << others;
        EXPECT_EQ(line_of("a.bd"), 1) << others;
        EXPECT_EQ(line_of("abc"), 0) << others;
        EXPECT_EQ(line_of("[ab]"), 5) << others;
        EXPECT_EQ(line_of("[abc]"), 0) << others;
        EXPECT_EQ(line_of("..x"), 7) << others;
        EXPECT_EQ(line_of("ä"), 8) << others;
        EXPECT_EQ(line_of("z"), 0) << others;
    }
}

}  // namespace
}  // namespace muster::manifest::source_map_test
