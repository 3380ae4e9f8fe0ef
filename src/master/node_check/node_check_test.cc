#include "master/node_check/node_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "job_protocol/node_check_protocol.h"
#include "master/node_check/check_table.h"

namespace muster::master::node_check_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

const Instant kStart = Instant() + 1h;
constexpr double kGood = 1e9;

/// Machines as they are, by their letters; slots follow them. "a>b": a can't connect to b.
struct Machines {
    int count = 2;
    std::set<std::string> cut = {};     ///< "a>b"
    std::set<char> cut_off = {};        ///< they reach no other node, and none reaches them
    std::set<char> mute = {};           ///< say nothing
    std::set<char> broken = {};         ///< say that they can't be used
    std::set<char> no_part = {};        ///< have no port
    std::map<char, double> flops = {};  ///< others have kGood
    std::map<char, double> memory = {};
    std::map<char, double> carries = {};  ///< no link of it is faster
    std::set<char> leave = {};            ///< when the first round has begun
};

/// A check of them, from its beginning to its end.
class Checked {
  public:
    explicit Checked(Machines given, NodeCheckOptions options = NodeCheckOptions())
        : machines(std::move(given)), check(std::move(options), 7) {
        std::vector<CheckedNode> nodes;
        for (int i = 0; i < machines.count; ++i)
            nodes.push_back({.incarnation = std::string(1, letter(i)),
                             .slot = i,
                             .address = std::string(1, letter(i)),
                             .port = machines.no_part.contains(letter(i)) ? 0 : 9});
        check.begin(std::move(nodes), now);
        for (int round = 0; round < 3 && !check.is_over(); ++round) {
            note_pairs();
            for (const char left : std::exchange(machines.leave, {}))
                check.lost(std::string(1, left));
            for (int i = 0; i < machines.count; ++i) answer(letter(i));
            if (check.advance(now)) continue;
            EXPECT_EQ(check.wake_at(), now + 20s);
            now += 20s;
            EXPECT_TRUE(check.advance(now));
        }
        EXPECT_TRUE(check.is_over());
    }
    static char letter(int i) { return static_cast<char>('a' + i); }

    void note_pairs() {
        std::string all;
        for (int i = 0; i < machines.count; ++i)
            if (const Check* order = check.directive_for(std::string(1, letter(i))))
                for (const CheckPeer& peer : order->dials)
                    all +=
                        fmt::format("{}{}>{}", all.empty() ? "" : " ", letter(i), peer.incarnation);
        pairs += fmt::format("{}{}", pairs.empty() ? "" : " | ", all);
    }
    bool reaches(char one, char other) const {
        return !machines.cut.contains(fmt::format("{}>{}", one, other)) &&
               !machines.cut_off.contains(one) && !machines.cut_off.contains(other) &&
               !machines.mute.contains(other);
    }
    double limit(char one) const {
        const auto found = machines.carries.find(one);
        return found == machines.carries.end() ? kGood : found->second;
    }
    static double or_good(const std::map<char, double>& values, char one) {
        const auto found = values.find(one);
        return found == values.end() ? kGood : found->second;
    }
    void answer(char one) {
        const Check* order = check.directive_for(std::string(1, one));
        if (order == nullptr || machines.mute.contains(one)) return;
        CheckResult result{.epoch = order->epoch, .round = order->round};
        if (machines.broken.contains(one)) result.trouble = "it computes wrongly";
        if (order->compute) {
            result.flops = or_good(machines.flops, one);
            result.memory_bytes = or_good(machines.memory, one);
        }
        for (const CheckPeer& peer : order->dials) {
            const char other = peer.incarnation[0];
            LinkFigures link{.peer = peer.incarnation};
            if (reaches(one, other))
                link.bytes_out = link.bytes_in = std::min(limit(one), limit(other));
            else
                link.trouble = "nobody answers";
            result.links.push_back(link);
        }
        check.reported(std::string(1, one), result);
    }
    std::string names(const std::vector<NodeCheck::Named>& named) const {
        std::string all;
        for (const NodeCheck::Named& one : named) all += check.nodes()[one.node].incarnation;
        return all;
    }
    /// "faulty b, slow c"
    std::string verdict() const {
        return fmt::format("faulty {}, slow {}", names(check.faulty()), names(check.slow()));
    }

    Machines machines;
    NodeCheck check;
    Instant now = kStart;
    std::string pairs;  ///< "a>b c>d | ..."
};

TEST(NodeCheck, TableOfCases) {
    struct Case {
        std::string_view name;
        Machines machines;
        std::string pairs;
        std::string verdict;
    };
    const Case cases[] = {
        {"two good ones", {.count = 2}, "a>b", "faulty , slow "},
        {"four good ones", {.count = 4}, "a>b c>d", "faulty , slow "},
        {"three: one group", {.count = 3}, "a>b a>c", "faulty , slow "},
        {"five: the last is in a group", {.count = 5}, "a>b c>d c>e", "faulty , slow "},
        {"one alone", {.count = 1}, "", "faulty , slow "},
        {"nobody", {.count = 0}, "", "faulty , slow "},
        {"one alone that computes wrongly", {.count = 1, .broken = {'a'}}, "", "faulty a, slow "},
        {"cut off, of four",
         {.count = 4, .cut_off = {'b'}},
         "a>b c>d | a>c d>b",
         "faulty b, slow "},
        {"both of a pair cut off",
         {.count = 4, .cut_off = {'a', 'b'}},
         "a>b c>d | a>c d>b",
         "faulty ab, slow "},
        {"one of each pair: the others meet",
         {.count = 4, .cut_off = {'b', 'd'}},
         "a>b c>d | a>c d>b",
         "faulty bd, slow "},
        {"more suspects than good ones",
         {.count = 6, .cut_off = {'b', 'd'}},
         "a>b c>d e>f | a>e c>e f>b f>d",
         "faulty bd, slow "},
        {"the first of a group of three",
         {.count = 3, .cut_off = {'a'}},
         "a>b a>c | c>b",
         "faulty a, slow "},
        {"the last of a group of three",
         {.count = 3, .cut_off = {'c'}},
         "a>b a>c | b>c",
         "faulty c, slow "},
        {"a link alone", {.count = 4, .cut = {"a>b"}}, "a>b c>d | a>c d>b", "faulty , slow "},
        {"who can't connect",
         {.count = 4, .cut = {"a>b", "a>c", "a>d"}},
         "a>b c>d | a>c d>b",
         "faulty a, slow "},
        {"whom nobody reaches, though it reaches others",
         {.count = 4, .cut = {"a>b", "c>b", "d>b"}},
         "a>b c>d | a>c d>b",
         "faulty b, slow "},
        {"two that can't talk: the first is kept",
         {.count = 2, .cut = {"a>b"}},
         "a>b",
         "faulty b, slow "},
        {"all cut off: the first is kept",
         {.count = 4, .cut_off = {'a', 'b', 'c', 'd'}},
         "a>b c>d | a>c d>b",
         "faulty bcd, slow "},
        {"mute, of two: its partner is not accused",
         {.count = 2, .mute = {'b'}},
         "a>b",
         "faulty b, slow "},
        {"a mute one that should have connected",
         {.count = 2, .mute = {'a'}},
         "a>b",
         "faulty a, slow "},
        {"mute, of four", {.count = 4, .mute = {'a'}}, "a>b c>d | a>c d>b", "faulty a, slow "},
        {"computes wrongly", {.count = 4, .broken = {'c'}}, "a>b c>d", "faulty c, slow "},
        {"goes away: its partner meets another",
         {.count = 4, .leave = {'a'}},
         "a>b c>d | c>b",
         "faulty , slow "},
        {"goes away, of two", {.count = 2, .leave = {'a'}}, "a>b", "faulty , slow "},
        {"all go away", {.count = 2, .leave = {'a', 'b'}}, "a>b", "faulty , slow "},
        {"without a port: not in a pair", {.count = 3, .no_part = {'b'}}, "a>c", "faulty , slow "},
        {"half as fast is not slow",
         {.count = 3, .flops = {{'b', kGood / 2}}},
         "a>b a>c",
         "faulty , slow "},
        {"less than half is",
         {.count = 3, .flops = {{'b', kGood / 2.1}}},
         "a>b a>c",
         "faulty , slow b"},
        {"in its memory", {.count = 3, .memory = {{'c', kGood / 3}}}, "a>b a>c", "faulty , slow c"},
        {"of two: the median is between",
         {.count = 2, .flops = {{'b', kGood / 4}}},
         "a>b",
         "faulty , slow b"},
        {"a faulty one is not slow too",
         {.count = 4, .cut_off = {'b'}, .flops = {{'b', 1}}},
         "a>b c>d | a>c d>b",
         "faulty b, slow "},
        {"a slow link of four: which end",
         {.count = 4, .carries = {{'d', kGood / 10}}},
         "a>b c>d | b>d c>a",
         "faulty , slow d"},
        {"one pair has no median but its own",
         {.count = 2, .carries = {{'b', 1}}},
         "a>b",
         "faulty , slow "},
        {"all equally slow",
         {.count = 4, .flops = {{'a', 1}, {'b', 1}, {'c', 1}, {'d', 1}}},
         "a>b c>d",
         "faulty , slow "},
    };
    for (const Case& one : cases) {
        const Checked checked(one.machines);
        EXPECT_EQ(checked.pairs, one.pairs) << one.name;
        EXPECT_EQ(checked.verdict(), one.verdict) << one.name;
    }
}

TEST(NodeCheck, SaysWhy) {
    const auto why = [](Machines machines) {
        const Checked checked(std::move(machines));
        return checked.check.faulty().at(0).why;
    };
    EXPECT_EQ(why({.count = 4, .cut_off = {'b'}}),
              "no link of it works: the link from node 3 (d) to node 1 (b) does not work (nobody "
              "answers)");
    EXPECT_THAT(why({.count = 2, .cut = {"a>b"}}), HasSubstr("to tell which node is at fault"));
    EXPECT_EQ(why({.count = 2, .mute = {'b'}}), "it did not answer for 20 s");
    EXPECT_EQ(why({.count = 2, .broken = {'b'}}), "it computes wrongly");
    const Checked slow({.count = 3, .flops = {{'b', 1e8}}, .memory = {{'b', 2e8}}});
    EXPECT_EQ(slow.check.slow().at(0).why,
              "its processor does 0.10 GFLOP/s, the median is 1.00; its memory moves 0.20 GB/s, "
              "the median is 1.00");
    const Checked link({.count = 4, .cut = {"a>b"}});
    EXPECT_THAT(link.check.remarks(),
                ElementsAre("the link from node 0 (a) to node 1 (b) does not work (nobody "
                            "answers), though other links of both nodes do"));
    const Checked no_part({.count = 3, .no_part = {'b'}});
    EXPECT_THAT(no_part.check.remarks(), ElementsAre(HasSubstr("node 1 (b) was started without")));
}

TEST(NodeCheck, ASecondTryOfWhoWasMuteCounts) {
    NodeCheck check({}, 1);
    check.begin({{.incarnation = "a", .slot = 0, .port = 9},
                 {.incarnation = "b", .slot = 1, .port = 9},
                 {.incarnation = "c", .slot = 2, .port = 9},
                 {.incarnation = "d", .slot = 3, .port = 9}},
                kStart);
    const LinkFigures works{.peer = "d", .bytes_out = 1, .bytes_in = 1};
    for (const char* name : {"b", "c", "d"})
        check.reported(name, {.epoch = 1, .round = 1, .links = {works}});
    EXPECT_FALSE(check.advance(kStart + 19s));
    EXPECT_TRUE(check.advance(kStart + 20s));
    ASSERT_NE(check.directive_for("a"), nullptr);
    EXPECT_TRUE(check.directive_for("a")->compute);
    check.reported(
        "a", {.epoch = 1, .round = 2, .links = {{.peer = "c", .bytes_out = 1, .bytes_in = 1}}});
    check.reported(
        "d", {.epoch = 1, .round = 2, .links = {{.peer = "b", .bytes_out = 1, .bytes_in = 1}}});
    EXPECT_TRUE(check.advance(kStart + 21s));
    EXPECT_TRUE(check.is_over());
    EXPECT_TRUE(check.faulty().empty());
    EXPECT_EQ(check.took(), 21s);
}

TEST(NodeCheck, WhatBelongsToAnotherCheckIsPassedOver) {
    NodeCheck check({}, 2);
    check.begin({{.incarnation = "a", .slot = 0, .port = 9}}, kStart);
    check.reported("a", {.epoch = 1, .round = 1});
    check.reported("a", {.epoch = 2, .round = 2});
    check.reported("z", {.epoch = 2, .round = 1});
    check.lost("z");
    EXPECT_FALSE(check.advance(kStart));
    check.reported("a", {.epoch = 2, .round = 1, .flops = 3});
    EXPECT_TRUE(check.advance(kStart));
    EXPECT_EQ(check.figures_of(0)->flops, 3);
    EXPECT_EQ(check.directive_for("a"), nullptr);
    EXPECT_EQ(check.wake_at(), Instant::max());
}

TEST(CheckTable, FiguresHaveUnits) {
    std::vector<std::string> texts;
    const Checked checked({.count = 3, .flops = {{'b', 1e8}}}, {.thorough = true});
    const std::vector<Notice> lines = check_table(checked.check);
    for (const Notice& line : lines) texts.push_back(line.text);
    EXPECT_THAT(
        texts,
        ElementsAre(
            "node check: 3 nodes in 0.00 s; 0 faulty, 1 slow",
            "node check: node 1 (b) is slow and stays (--exclude-straggler leaves such nodes "
            "out): its processor does 0.10 GFLOP/s, the median is 1.00",
            "  node                                GFLOP/s  memory GB/s   best link MB/s",
            "  node 0 (a)                             1.00         1.00          1000.00",
            "  node 1 (b)                             0.10         1.00          1000.00",
            "  node 2 (c)                             1.00         1.00          1000.00",
            "  link                                                      round trip us   out MB/s "
            "   in MB/s",
            "  node 0 (a) to node 1 (b)                                            0.0    1000.00 "
            "   1000.00",
            "  node 0 (a) to node 2 (c)                                            0.0    1000.00 "
            "   1000.00"));
    EXPECT_TRUE(lines[1].warns);
    EXPECT_FALSE(lines[0].warns);
    const Checked many({.count = 26 * 3, .flops = {{'b', 1}}});
    EXPECT_EQ(check_table(many.check).size(), 1 + 1 + 1 + 32 + 1u);
    EXPECT_EQ(check_table(many.check).back().text, "  and 46 faster nodes");
}

TEST(CheckProtocol, ThereAndBack) {
    const Check check{.epoch = 5,
                      .round = 2,
                      .compute = false,
                      .dials = {{.incarnation = "b", .address = "10.0.0.2", .port = 7}},
                      .thorough = true,
                      .secret = std::string("\0x", 2),
                      .limit = 15s};
    EXPECT_EQ(job_protocol::from_wire(to_wire(check)), check);
    const CheckResult result{
        .epoch = 5,
        .round = 1,
        .flops = 2.5e9,
        .memory_bytes = 1e10,
        .links =
            {{.peer = "b", .trouble = "no", .round_trip = 40us, .bytes_out = 1, .bytes_in = 2}},
        .trouble = "bad"};
    EXPECT_EQ(job_protocol::from_wire(to_wire(result)), result);
    job::CheckResult odd = job_protocol::to_wire(result);
    odd.set_flops(-1);
    odd.set_memory_bytes(std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(job_protocol::from_wire(odd).flops, 0);
    EXPECT_EQ(job_protocol::from_wire(odd).memory_bytes, 0);
}

}  // namespace
}  // namespace muster::master::node_check_test
