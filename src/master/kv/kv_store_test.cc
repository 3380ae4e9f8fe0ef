#include "master/kv/kv_store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/rng.h"

namespace muster::master::kv_store_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using What = decltype(KvRequest::what);

constexpr Generation kFirst{.epoch = 3, .number = 7};
constexpr Generation kSecond{.epoch = 3, .number = 8};
constexpr int kStranger = -1;

World world_of(const Generation& generation, int nodes, int restarts = 0) {
    return {.generation = generation, .members = {}, .restarts = restarts, .nodes = nodes};
}

std::string text_of(const Result<KvAnswer>& answer) {
    if (!answer)
        return fmt::format("{}: {}", to_string(answer.error().code()), answer.error().message());
    if (answer->value) return fmt::format("{}\"{}\"", answer->yes ? "yes, " : "", *answer->value);
    return answer->yes ? "yes" : fmt::format("{}", answer->number);
}

/// The keys of the master of epoch 3 and of generation 3.7, and the calls that ask for them.
class Desk {
  public:
    explicit Desk(int nodes = 2, KvLimits limits = {}) : keys(3, limits) { runs(kFirst, nodes); }

    void runs(const Generation& generation, int nodes, const std::string& why = "") {
        const World world = world_of(generation, nodes);
        keys.runs(&world, why);
    }
    /// What it gets at once; "waits": nothing yet. It is the waiter of that number from 1 on.
    std::string ask(int rank, What what, KvSpace space = {.epoch = 3, .generation = kFirst}) {
        const KvStore::Waiter waiter = ++last_;
        keys.ask(waiter, rank == kStranger ? std::nullopt : std::optional(rank),
                 {.space = space, .what = std::move(what)});
        std::string got = "waits";
        for (auto& [who, with] : keys.take_answered())
            if (who == waiter)
                got = text_of(with);
            else
                later_.emplace_back(who, std::move(with));
        return got;
    }
    /// The waiters that got their answers since the last call: "1: 0, 3: yes".
    std::string released() {
        for (auto& one : keys.take_answered()) later_.push_back(std::move(one));
        std::string text;
        for (const auto& [waiter, with] : std::exchange(later_, {}))
            text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", waiter, text_of(with));
        return text;
    }

    KvStore keys;

  private:
    KvStore::Waiter last_ = 0;
    KvStore::Answered later_;
};

TEST(KvStore, AreSetReadCountedComparedAndDeleted) {
    struct Case {
        const char* what;
        std::vector<std::pair<What, std::string>> asked;  ///< one after another, and what it gets
    };
    const Case cases[] = {
        {"what was set is there", {{SetKey{"k", "v"}, "0"}, {GetKey{"k"}, "\"v\""}}},
        {"the last one counts",
         {{SetKey{"k", "v"}, "0"}, {SetKey{"k", ""}, "0"}, {GetKey{"k"}, "\"\""}}},
        {"what is missing is not empty", {{GetKey{"k"}, "0"}}},
        {"sums begin at 0",
         {{AddToKey{"n", 2}, "2"}, {AddToKey{"n", -5}, "-3"}, {GetKey{"n"}, "\"-3\""}}},
        {"a number that was set", {{SetKey{"n", "40"}, "0"}, {AddToKey{"n", 2}, "42"}}},
        {"no number",
         {{SetKey{"n", "4x"}, "0"},
          {AddToKey{"n", 2}, "Invalid: something is to be added to n, which is not a number"},
          {GetKey{"n"}, "\"4x\""}}},
        {"a sum that does not fit",
         {{SetKey{"n", "9223372036854775807"}, "0"},
          {AddToKey{"n", 1}, "Invalid: the sum in n would not fit into 64 bits"},
          {GetKey{"n"}, "\"9223372036854775807\""}}},
        {"made where there is none",
         {{CompareSetKey{"k", std::nullopt, "a"}, "yes, \"a\""}, {GetKey{"k"}, "\"a\""}}},
        {"one is there already",
         {{SetKey{"k", "a"}, "0"},
          {CompareSetKey{"k", std::nullopt, "b"}, "\"a\""},
          {GetKey{"k"}, "\"a\""}}},
        {"as expected", {{SetKey{"k", "a"}, "0"}, {CompareSetKey{"k", "a", "b"}, "yes, \"b\""}}},
        {"another than expected",
         {{SetKey{"k", "a"}, "0"},
          {CompareSetKey{"k", "x", "b"}, "\"a\""},
          {GetKey{"k"}, "\"a\""}}},
        {"something was expected, and nothing is there",
         {{CompareSetKey{"k", "", "b"}, "0"}, {GetKey{"k"}, "0"}}},
        {"deleted once",
         {{SetKey{"k", "v"}, "0"},
          {DeleteKey{"k"}, "yes"},
          {DeleteKey{"k"}, "0"},
          {GetKey{"k"}, "0"}}},
        {"a key has a name",
         {{SetKey{"", "v"}, "Invalid: a key, a barrier or a point needs a name"}}},
    };
    for (const Case& c : cases) {
        Desk desk;
        for (const auto& [what, answer] : c.asked) EXPECT_EQ(desk.ask(0, what), answer) << c.what;
    }
}

TEST(KvStore, WhoWaitsIsAnsweredWhenAllAreThere) {
    Desk desk;
    EXPECT_EQ(desk.ask(0, AwaitKeys{{"a", "b"}}), "waits");
    EXPECT_EQ(desk.ask(1, AwaitKeys{{"b", "b"}}), "waits");
    EXPECT_EQ(desk.ask(1, SetKey{"c", "1"}), "0");
    EXPECT_EQ(desk.released(), "");
    EXPECT_EQ(desk.ask(1, AddToKey{"b", 1}), "1");
    EXPECT_EQ(desk.released(), "2: 0");
    EXPECT_EQ(desk.ask(1, DeleteKey{"b"}), "yes");
    EXPECT_EQ(desk.ask(1, SetKey{"a", "1"}), "0");
    EXPECT_EQ(desk.released(), "") << "they are not there at one time";
    EXPECT_EQ(desk.ask(1, CompareSetKey{"b", std::nullopt, "1"}), "yes, \"1\"");
    EXPECT_EQ(desk.released(), "1: 0");
    EXPECT_EQ(desk.ask(0, AwaitKeys{{"a", "b", "c"}}), "0") << "all are there";
    EXPECT_EQ(desk.ask(0, AwaitKeys{}), "0");
    EXPECT_EQ(desk.keys.waits(), 0u);
}

TEST(KvStore, WhoWantsNoAnswerIsForgotten) {
    Desk desk;
    desk.ask(0, AwaitKeys{{"a"}});
    desk.ask(0, EnterBarrier{"b"});
    desk.ask(0, AwaitSyncPoint{"s"});
    for (const KvStore::Waiter waiter : std::vector<KvStore::Waiter>{1, 2, 3, 3, 9})
        desk.keys.forget(waiter);
    EXPECT_EQ(desk.keys.waits(), 0u);
    EXPECT_EQ(desk.keys.names(), 0u) << "no node is at the barrier or at the point";
    EXPECT_EQ(desk.ask(1, SetKey{"a", "1"}), "0");
    EXPECT_EQ(desk.ask(1, EnterBarrier{"b"}), "waits") << "who gave up has not come";
    EXPECT_EQ(desk.released(), "");
}

TEST(KvStore, ABarrierOpensWhenAllAreAtIt) {
    Desk desk(3);
    EXPECT_EQ(desk.ask(2, EnterBarrier{"b"}), "waits");
    EXPECT_EQ(desk.ask(0, EnterBarrier{"b"}), "waits");
    EXPECT_EQ(desk.ask(0, EnterBarrier{"b"}), "waits") << "a member counts once";
    EXPECT_EQ(desk.ask(1, EnterBarrier{"other"}), "waits");
    EXPECT_EQ(desk.released(), "");
    EXPECT_EQ(desk.ask(1, EnterBarrier{"b"}), "0");
    EXPECT_EQ(desk.released(), "1: 0, 2: 0, 3: 0");
    EXPECT_EQ(desk.ask(1, EnterBarrier{"b"}), "waits") << "and is closed behind them";
    EXPECT_EQ(desk.keys.names(), 2u);
}

TEST(KvStore, APointIsReachedWhenAllHaveJoinedIt) {
    Desk desk(3);
    EXPECT_EQ(desk.ask(2, AwaitSyncPoint{"s"}), "waits");
    EXPECT_EQ(desk.ask(2, JoinSyncPoint{"s"}), "0");
    EXPECT_EQ(desk.ask(2, JoinSyncPoint{"s"}), "0") << "a member counts once";
    EXPECT_EQ(desk.ask(0, JoinSyncPoint{"s"}), "0");
    EXPECT_EQ(desk.released(), "") << "to wait for it is not to join it";
    EXPECT_EQ(desk.ask(1, JoinSyncPoint{"s"}), "yes");
    EXPECT_EQ(desk.released(), "1: yes");
    EXPECT_EQ(desk.ask(0, AwaitSyncPoint{"s"}), "yes") << "and stays so";
    EXPECT_EQ(desk.ask(0, JoinSyncPoint{"s"}), "yes");
}

TEST(KvStore, WhoMeetsMayChange) {
    Desk desk(0);
    desk.keys.expect(kFirst, {0, 3});
    EXPECT_EQ(desk.ask(0, EnterBarrier{"b"}), "waits");
    EXPECT_EQ(desk.ask(0, JoinSyncPoint{"p"}), "0");
    desk.keys.expect(kSecond, {0});
    EXPECT_EQ(desk.released(), "") << "another generation";
    desk.keys.expect(kFirst, {0, 3, 5});
    EXPECT_EQ(desk.ask(3, EnterBarrier{"b"}), "waits");
    EXPECT_EQ(desk.ask(3, JoinSyncPoint{"p"}), "0");
    desk.keys.expect(kFirst, {0, 3});
    EXPECT_EQ(desk.released(), "1: 0, 3: 0");
    EXPECT_EQ(desk.ask(0, JoinSyncPoint{"p"}), "yes");
}

TEST(KvStore, NobodyWaitsForWhoIsDone) {
    Desk desk(3);
    desk.ask(0, EnterBarrier{"b"});
    desk.ask(1, JoinSyncPoint{"s"});
    desk.ask(0, JoinSyncPoint{"s"});
    desk.ask(0, AwaitSyncPoint{"s"});
    desk.keys.done(kSecond, 1);
    desk.keys.done(kFirst, 2);
    EXPECT_EQ(desk.released(), "4: yes") << "the point; at the barrier 1 is still missing";
    desk.keys.done(kFirst, 1);
    desk.keys.done(kFirst, 1);
    EXPECT_EQ(desk.released(), "1: 0");
    EXPECT_EQ(desk.ask(0, EnterBarrier{"b"}), "0") << "it is alone now";
}

TEST(KvStore, AGenerationsKeysEndWithIt) {
    Desk desk;
    desk.ask(0, SetKey{"k", "v"});
    desk.ask(0, JoinSyncPoint{"s"});
    desk.ask(1, AwaitKeys{{"missing"}});
    desk.ask(1, EnterBarrier{"b"});
    desk.ask(1, AwaitSyncPoint{"s"});
    desk.ask(1, AwaitKeys{{"missing"}}, {.epoch = 3});
    const std::string why = "Gone: generation 3.7 has ended: rank 1 was killed by SIGKILL";
    desk.runs(kSecond, 2, "rank 1 was killed by SIGKILL");
    EXPECT_EQ(desk.released(), fmt::format("3: {0}, 4: {0}, 5: {0}", why));
    EXPECT_EQ(desk.ask(1, GetKey{"k"}), why) << "also for those who come too late";
    const KvSpace second{.epoch = 3, .generation = kSecond};
    EXPECT_EQ(desk.ask(1, GetKey{"k"}, second), "0");
    EXPECT_EQ(desk.ask(1, EnterBarrier{"b"}, second), "waits");
    EXPECT_EQ(desk.ask(0, EnterBarrier{"b"}, second), "0");
    EXPECT_EQ(desk.keys.names(), 0u);
    EXPECT_EQ(desk.keys.bytes(), 0u);
    EXPECT_EQ(desk.keys.waits(), 1u) << "the job's own";
}

TEST(KvStore, AnAttemptDoesNotReadWhatTheOneBeforeItStored) {
    Desk desk(1);
    desk.ask(0, SetKey{"k", "v"});
    const World same = world_of(kFirst, 1);
    desk.keys.runs(&same, "");
    EXPECT_EQ(desk.ask(0, GetKey{"k"}), "\"v\"") << "nothing has changed";
    const World again = world_of(kFirst, 1, 1);
    desk.keys.runs(&again, "");
    EXPECT_EQ(desk.ask(0, GetKey{"k"}), "0");
}

TEST(KvStore, TheJobsOwnGoOnOverGenerations) {
    Desk desk;
    const KvSpace of_job{.epoch = 3};
    EXPECT_EQ(desk.ask(kStranger, SetKey{"port", "1"}, of_job), "0") << "a standby node may";
    EXPECT_EQ(desk.ask(0, GetKey{"port"}), "0") << "they are others than a generation's";
    desk.keys.runs(nullptr, "a node is lost");
    EXPECT_EQ(desk.ask(kStranger, GetKey{"port"}, of_job), "\"1\"");
    EXPECT_EQ(desk.ask(0, EnterBarrier{"b"}, of_job),
              "Invalid: a barrier is for the members of a generation, and none is named");
    EXPECT_EQ(desk.ask(0, JoinSyncPoint{"b"}, of_job),
              "Invalid: a point is for the members of a generation, and none is named");
    EXPECT_EQ(desk.ask(0, AwaitSyncPoint{"b"}, of_job),
              "Invalid: a point is for the members of a generation, and none is named");
}

TEST(KvStore, WhoMeansOthersIsRefused) {
    struct Case {
        const char* what;
        int rank;
        KvSpace space;
        std::string says;
    };
    const Case cases[] = {
        {"a master before",
         0,
         {.epoch = 2, .generation = kFirst},
         "Gone: these keys belonged to the master of epoch 2, and that of epoch 3 is in charge "
         "now: they are lost; start over"},
        {"the job's own, of a master before", 0, {.epoch = 2}, "Gone: these keys belonged to"},
        {"a generation that is not known",
         0,
         {.epoch = 3, .generation = kSecond},
         "Gone: generation 3.8 does not run"},
        {"a stranger",
         kStranger,
         {.epoch = 3, .generation = kFirst},
         "Forbidden: only members can use the keys of generation 3.7"},
    };
    for (const Case& c : cases) {
        for (const What& what :
             {What(SetKey{"k", "v"}), What(AwaitKeys{{"k"}}), What(JoinSyncPoint{"s"})}) {
            Desk desk;
            EXPECT_THAT(desk.ask(c.rank, what, c.space), StartsWith(c.says)) << c.what;
            EXPECT_EQ(desk.keys.names() + desk.keys.waits(), 0u) << c.what;
        }
    }
}

TEST(KvStore, WhatDoesNotFitIsRefused) {
    const KvLimits limits{.name = 4, .value = 8, .bytes = 20, .names = 3, .waits = 3};
    struct Case {
        const char* what;
        std::vector<What> before;
        What asked;
        const char* says;
    };
    const Case cases[] = {
        {"a name", {}, SetKey{"12345", ""}, "TooLarge: a name of 5 bytes; at most 4 are allowed"},
        {"a name that is waited for", {}, AwaitKeys{{"12345"}}, "TooLarge: a name of 5 bytes"},
        {"a barrier's name", {}, EnterBarrier{"12345"}, "TooLarge: a name of 5 bytes"},
        {"a point's name", {}, JoinSyncPoint{"12345"}, "TooLarge: a name of 5 bytes"},
        {"a value",
         {},
         SetKey{"k", "123456789"},
         "TooLarge: a value of 9 bytes; at most 8 are allowed"},
        {"bytes in all",
         {SetKey{"a", "12345678"}, SetKey{"b", "12345678"}},
         SetKey{"c", "12"},
         "TooLarge: the master already keeps 18 bytes of keys of at most 20"},
        {"a value that grows",
         {SetKey{"a", "12345678"}, SetKey{"b", "1234567"}, SetKey{"c", "1"}},
         CompareSetKey{"c", "1", "1234"},
         "TooLarge: the master already keeps 19 bytes"},
        {"names",
         {SetKey{"a", ""}, JoinSyncPoint{"b"}, SetKey{"c", ""}},
         SetKey{"d", ""},
         "TooLarge: the master already keeps 3 names"},
        {"another barrier",
         {SetKey{"a", ""}, SetKey{"b", ""}, SetKey{"c", ""}},
         EnterBarrier{"d"},
         "TooLarge: the master already keeps 3 names"},
        {"waits",
         {AwaitKeys{{"a", "b"}}},
         AwaitKeys{{"a", "b"}},
         "TooLarge: 2 keys are already waited for"},
        {"waits at a barrier",
         {AwaitKeys{{"a", "b", "c"}}},
         EnterBarrier{"d"},
         "TooLarge: 3 keys are already waited for"},
        {"there is room again",
         {SetKey{"a", "12345678"}, SetKey{"b", "12345678"}, DeleteKey{"a"}},
         SetKey{"c", "12"},
         "0"},
        {"a value may shrink",
         {SetKey{"a", "12345678"}, SetKey{"b", "12345678"}},
         SetKey{"a", "1"},
         "0"},
    };
    for (const Case& c : cases) {
        Desk desk(2, limits);
        for (const What& what : c.before) desk.ask(0, what);
        EXPECT_THAT(desk.ask(0, c.asked), HasSubstr(c.says)) << c.what;
    }
}

TEST(KvStore, KeepsItsPromisesWhateverHappens) {
    const KvLimits limits{.bytes = 60, .names = 12, .waits = 20};
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Rng rng(seed);
        KvStore keys(3, limits);
        std::uint64_t number = 7;
        std::set<KvStore::Waiter> waiting;
        KvStore::Waiter last = 0;
        for (int step = 0; step < 300; ++step) {
            const std::string where = fmt::format("seed {} step {}", seed, step);
            const World world = world_of({.epoch = 3, .number = number}, 3);
            keys.runs(&world, "");
            const std::string name(1, static_cast<char>('a' + rng.below(6)));
            const int rank = static_cast<int>(rng.below(3));
            const What all[] = {SetKey{name, std::string(rng.below(20), 'x')},
                                GetKey{name},
                                AddToKey{name, 1},
                                CompareSetKey{name, "1", "xx"},
                                DeleteKey{name},
                                AwaitKeys{{name, "a"}},
                                EnterBarrier{name},
                                JoinSyncPoint{name},
                                AwaitSyncPoint{name}};
            KvSpace space{.epoch = 3};
            if (rng.chance(0.8)) space.generation = world.generation;
            waiting.insert(++last);
            keys.ask(last, rank, {.space = space, .what = all[rng.below(std::size(all))]});
            if (rng.chance(0.02)) keys.done(world.generation, rank);
            if (rng.chance(0.02)) ++number;
            for (const auto& [waiter, with] : keys.take_answered())
                ASSERT_EQ(waiting.erase(waiter), 1u) << "answered once, and who waits, " << where;
            if (rng.chance(0.1)) {
                const KvStore::Waiter waiter = 1 + rng.below(last);
                keys.forget(waiter);
                waiting.erase(waiter);
            }
            ASSERT_LE(keys.bytes(), limits.bytes) << where;
            ASSERT_LE(keys.names(), limits.names) << where;
            ASSERT_LE(keys.waits(), limits.waits) << where;
            ASSERT_GE(keys.waits(), waiting.size()) << where;
        }
        keys.runs(nullptr, "over");
        for (const auto& [waiter, with] : keys.take_answered()) waiting.erase(waiter);
        for (const KvStore::Waiter waiter : waiting) keys.forget(waiter);
        for (const char* name : {"a", "b", "c", "d", "e", "f"})
            keys.ask(0, 0, {.space = {.epoch = 3}, .what = DeleteKey{name}});
        ASSERT_EQ(keys.bytes() + keys.names() + keys.waits(), 0u) << "nothing is left, " << seed;
    }
}

}  // namespace
}  // namespace muster::master::kv_store_test
