#include "checkpoint/pickle/pickle_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/pickle/pickle_writer.h"

namespace muster::checkpoint::pickle_reader_test {
namespace {

using ::testing::HasSubstr;
using namespace std::literals;

/// A node as Python would show it, but calls as they are.
std::string shown(const PickleTree& tree, NodeId id, int depth = 0) {
    const PickleNode& node = tree[id];
    if (depth > 8) return "…";
    const auto all = [&](const std::vector<NodeId>& items, bool pairs) {
        std::string text;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i > 0) text += pairs && i % 2 == 1 ? ": " : ", ";
            text += shown(tree, items[i], depth + 1);
        }
        return text;
    };
    std::string text;
    switch (node.kind) {
        case PickleKind::kNone:
            text = "None";
            break;
        case PickleKind::kBool:
            text = node.integer != 0 ? "True" : "False";
            break;
        case PickleKind::kInteger:
            text = fmt::format("{}", node.integer);
            break;
        case PickleKind::kBigInteger:
            text = fmt::format("big{}", node.text.size());
            break;
        case PickleKind::kReal:
            text = fmt::format("{}", node.real);
            break;
        case PickleKind::kText:
            text = "'" + node.text + "'";
            break;
        case PickleKind::kBytes:
            text = "b'" + node.text + "'";
            break;
        case PickleKind::kList:
            text = "[" + all(node.items, false) + "]";
            break;
        case PickleKind::kTuple:
            text = "(" + all(node.items, false) + ")";
            break;
        case PickleKind::kSet:
            text = "set{" + all(node.items, false) + "}";
            break;
        case PickleKind::kFrozenSet:
            text = "frozen{" + all(node.items, false) + "}";
            break;
        case PickleKind::kDict:
            text = (node.ordered ? "ordered{" : "{") + all(node.items, true) + "}";
            break;
        case PickleKind::kGlobal:
            text = "<" + node.text + ">";
            break;
        case PickleKind::kCall:
            text = "call(" + all(node.items, false) + ")";
            break;
        case PickleKind::kNew:
            text = "new(" + all(node.items, false) + ")";
            break;
        case PickleKind::kPersistent:
            text = "outside(" + all(node.items, false) + ")";
            break;
    }
    if (node.appended != kNoNode) text += "+" + shown(tree, node.appended, depth + 1);
    if (node.pairs != kNoNode) text += "+" + shown(tree, node.pairs, depth + 1);
    if (node.state != kNoNode) text += "." + shown(tree, node.state, depth + 1);
    return text;
}
std::string shown(std::string_view pickle) {
    const auto tree = read_pickle(pickle);
    return tree ? shown(*tree, tree->root) : tree.error().message();
}

// What Python 3.11's pickle.dumps writes of these values.
constexpr struct {
    std::string_view pickle;
    std::string_view value;
} kValues[] = {
    {"\x80\x02N."sv, "None"},
    {"\x80\x02](\x88\x89K\x05M\x00\x01J\xff\xff\xff\xff\x8a\x05\x00\x00\x00\x00\x01G\x3f\xf8\0\0\0\0\0\0e."sv,
     "[True, False, 5, 256, -1, 4294967296, 1.5]"},
    {"\x80\x02\x8a\x09\0\0\0\0\0\0\0\0\x40."sv, "big9"},
    {"\x80\x02\x8a\x00."sv, "0"},
    {"\x80\x02\x8a\x01\x80."sv, "-128"},
    {"\x80\x02}q\x00(X\x01\x00\x00\x00"
     "aq\x01K\x01X\x01\x00\x00\x00"
     "bq\x02h\x01u."sv,
     "{'a': 1, 'b': 'a'}"},
    {"\x80\x02K\x01\x85K\x02K\x03\x86K\x04K\x05K\x06\x87\x87."sv, "((1), (2, 3), (4, 5, 6))"},
    {"\x80\x02(K\x01K\x02K\x03K\x04t."sv, "(1, 2, 3, 4)"},
    {"\x80\x02]q\x00h\x00"
     "a."sv,
     "[[[[[[[[[…]]]]]]]]]"},
    {"\x80\x02"
     "c__builtin__\nset\nq\x00]q\x01(K\x01K\x02"
     "e\x85Rq\x03."sv,
     "set{1, 2}"},
    {"\x80\x02"
     "c__builtin__\nfrozenset\n]K\x01"
     "a\x85R."sv,
     "frozen{1}"},
    {"\x80\x02"
     "c_codecs\nencode\nX\x03\x00\x00\x00"
     "a\xc3\xbfX\x06\x00\x00\x00latin1\x86R."sv,
     "b'a\xff'"},
    {"\x80\x02"
     "c__builtin__\nbytes\n)R."sv,
     "b''"},
    {"\x80\x02"
     "ccollections\nOrderedDict\n)R(X\x01\0\0\0aK\x01u}X\x01\0\0\0sK\x02sb."sv,
     "ordered{'a': 1}.{'s': 2}"},
    {"\x80\x02"
     "ccollections\ndefaultdict\nc__builtin__\nlist\n\x85RK\x01K\x02s."sv,
     "call(<collections defaultdict>, (<__builtin__ list>))+{1: 2}"},
    {"\x80\x02"
     "cm\nC\n)\x81}X\x01\0\0\0xK\x01sb."sv,
     "new(<m C>, ()).{'x': 1}"},
    {"\x80\x02"
     "cos\nsystem\nX\x02\0\0\0ls\x85R."sv,
     "call(<os system>, ('ls'))"},
    {"\x80\x02K\x07Q."sv, "outside(7)"},
    {"\x80\x02K\x01(K\x02K\x03"
     "1K\x04"
     "0."sv,
     "1"},
    {"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00\x8c\x01m\x8c\x01"
     "C\x93\x94(K\x01\x91\x86."sv,
     "(<m C>, frozen{1})"},
    {"\x80\x04\x8f(K\x01K\x02\x90."sv, "set{1, 2}"},
    {"\x80\x04"
     "C\x02\x00\xff."sv,
     "b'\0\xff'"sv},
    {"\x80\x04\x8c\x01m\x8c\x01"
     "C\x93)}\x92."sv,
     "new(<m C>, (), {})"},
};

TEST(PickleReader, ReadsWhatPythonWrites) {
    for (const auto& row : kValues) EXPECT_EQ(shown(row.pickle), row.value);
}

TEST(PickleReader, WhatFollowsThePickleIsNotOfIt) {
    const auto tree = read_pickle("\x80\x02N.\0\0\0"sv);
    ASSERT_TRUE(tree);
    EXPECT_EQ(tree->bytes, 4u);
}

TEST(PickleReader, EachBeginOfAPickleIsRefused) {
    for (const auto& row : kValues)
        for (std::size_t i = 0; i < row.pickle.size(); ++i)
            EXPECT_FALSE(read_pickle(row.pickle.substr(0, i))) << row.value << " " << i;
}

TEST(PickleReader, WhatIsDamagedIsToldWithItsPlace) {
    const struct {
        std::string_view pickle;
        const char* said;
    } rows[] = {
        {""sv, "at byte 0: it ends too early"},
        {"\x80\x02."sv, "at byte 2: it takes a value that is not there"},
        {"\x80\x06N."sv, "newer protocol"},
        {"\x80\x02I1\n."sv, "the opcode 0x49 is not read"},
        {"\x80\x02h\x05."sv, "what it has not remembered"},
        {"\x80\x02t."sv, "a mark that is not there"},
        {"\x80\x02K\x01(\x85."sv, "a value that is not there"},
        {"\x80\x02(K\x01"
         "d."sv,
         "a key without a value"},
        {"\x80\x02}(K\x01u."sv, "a key without a value"},
        {"\x80\x02K\x01K\x02"
         "a."sv,
         "appends to what is no list"},
        {"\x80\x02]K\x01K\x02s."sv, "in no dictionary"},
        {"\x80\x02](K\x01\x90."sv, "what can't have it"},
        {"\x80\x02K\x01K\x02R."sv, "no tuple"},
        {"\x80\x02K\x01)K\x03\x92."sv, "no dictionary"},
        {"\x80\x02NNb."sv, "the state of what has none"},
        {"\x80\x02"
         "cos system\n\n."sv,
         "no name"},
        {"\x80\x02"
         "cos"sv,
         "a name without an end"},
        {"\x80\x04K\x01K\x02\x93."sv, "no text"},
        {"\x80\x02X\xff\xff\xff\xff"
         "a."sv,
         "ends too early"},
        {"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
         "a."sv,
         "ends too early"},
    };
    for (const auto& row : rows) EXPECT_THAT(shown(row.pickle), HasSubstr(row.said));
}

TEST(PickleReader, LimitsHold) {
    EXPECT_EQ(read_pickle("\x80\x02N."sv, {.bytes = 3}).error().code(), Code::kTooLarge);
    EXPECT_EQ(read_pickle("\x80\x02]])."sv, {.nodes = 2}).error().code(), Code::kTooLarge);
    // A text of a megabyte, made bytes again and again.
    std::string pickle =
        "\x80\x02"
        "c_codecs\nencode\nq\x00X"s;
    const std::uint32_t length = 1'000'000;
    pickle.append(reinterpret_cast<const char*>(&length), 4).append(length, 'a');
    pickle += "q\x01X\x06\0\0\0latin1q\x02"s;
    for (int i = 0; i < 1000; ++i) pickle += "h\x00h\x01h\x02\x86R"s;
    const auto tree = read_pickle(pickle + ".");
    ASSERT_FALSE(tree);
    EXPECT_THAT(tree.error().message(), HasSubstr("the same too often"));
}

TEST(PickleReader, DepthCostsNothing) {
    std::string pickle = "\x80\x02";
    for (int i = 0; i < 100'000; ++i) pickle += ']';
    for (int i = 0; i < 99'999; ++i) pickle += 'a';
    const auto tree = read_pickle(pickle + ".");
    ASSERT_TRUE(tree);
    PickleWriter writer;
    const auto written =
        write_node(writer, *tree, tree->root, [](const PickleNode&) { return Result<void>(); });
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code(), Code::kTooLarge);
}

TEST(PickleWriter, WhatWasReadIsWrittenSo) {
    for (const auto& row : kValues) {
        const auto tree = read_pickle(row.pickle);
        ASSERT_TRUE(tree) << row.value;
        PickleWriter writer;
        const auto written = write_node(writer, *tree, tree->root, [&](const PickleNode& node) {
            writer.integer((*tree)[node.items[0]].integer);
            writer.persistent();
            return Result<void>();
        });
        if (shown(row.pickle).ends_with("{})")) {
            EXPECT_EQ(written.error().code(), Code::kUnsupported) << "made with words";
            continue;
        }
        ASSERT_TRUE(written);
        EXPECT_EQ(shown(writer.finish()), shown(row.pickle));
    }
}

TEST(PickleWriter, WhatIsSharedStaysSo) {
    const auto tree = read_pickle(
                          "\x80\x02](]q\x00h\x00"
                          "e."sv)
                          .value();
    PickleWriter writer;
    ASSERT_TRUE(
        write_node(writer, tree, tree.root, [](const PickleNode&) { return Result<void>(); }));
    const auto again = read_pickle(writer.finish()).value();
    const auto& items = again[again.root].items;
    ASSERT_EQ(items.size(), 2u);
    EXPECT_EQ(items[0], items[1]);
}

}  // namespace
}  // namespace muster::checkpoint::pickle_reader_test
