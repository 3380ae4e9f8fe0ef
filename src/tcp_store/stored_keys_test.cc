#include "tcp_store/stored_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/rng.h"

namespace muster::tcp_store::stored_keys_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(StoreKeys, CountsWhatItTakes) {
    constexpr std::size_t kEach = StoreKeys::kEntryBytes;
    StoreKeys keys;
    const auto count = [&] { return std::pair(keys.entries(), keys.bytes()); };
    using Count = std::pair<std::size_t, std::size_t>;
    keys.set("key", "value");
    EXPECT_EQ(count(), Count(1, 8 + kEach));
    keys.set("key", "v");
    keys.append("key", "w");
    EXPECT_EQ(count(), Count(1, 5 + kEach));
    keys.append("k", "");
    keys.compare_set("key", "vw", "long value");
    EXPECT_EQ(count(), Count(2, 14 + 2 * kEach));
    EXPECT_TRUE(keys.add("n", 10));
    EXPECT_EQ(count(), Count(3, 17 + 3 * kEach));
    keys.push("q", "one");
    keys.push("q", "two");
    EXPECT_EQ(count(), Count(5, 25 + 5 * kEach));
    keys.wait(1, {"a", "b"});
    keys.arrive(2, "bar", 2);
    EXPECT_EQ(count(), Count(5, 30 + 9 * kEach));
    keys.set("a", "");
    keys.set("b", "");
    keys.arrive(3, "bar", 2);
    EXPECT_EQ(count(), Count(7, 27 + 7 * kEach)) << "all waits are over";
    keys.wait(4, {"c"});
    EXPECT_TRUE(keys.cancel(4));
    keys.pop("q");
    keys.pop("q");
    for (const char* key : {"key", "k", "n", "a", "b", "none"}) keys.erase(key);
    EXPECT_EQ(count(), Count(0, 0));
    keys.push("q", "one");
    keys.clear();
    EXPECT_EQ(count(), Count(0, 0));
}

TEST(StoreKeys, CompareAndSetAsTorchHasIt) {
    struct Case {
        const char* about;
        const char* there;  ///< null: missing
        const char* expected;
        const char* desired;
        const char* answer;
        const char* then;  ///< null: missing
    };
    for (const Case& c : {
             Case{"missing, nothing expected", nullptr, "", "new", "new", "new"},
             Case{"missing, something expected", nullptr, "old", "new", "old", nullptr},
             Case{"as expected", "old", "old", "new", "new", "new"},
             Case{"another", "other", "old", "new", "other", "other"},
             Case{"empty, nothing expected", "", "", "new", "new", "new"},
         }) {
        StoreKeys keys;
        if (c.there != nullptr) keys.set("k", c.there);
        EXPECT_EQ(keys.compare_set("k", c.expected, c.desired), c.answer) << c.about;
        EXPECT_EQ(keys.has_all({"k"}), c.then != nullptr) << c.about;
        EXPECT_EQ(keys.get("k"), c.then == nullptr ? "" : c.then) << c.about;
    }
}

TEST(StoreKeys, AddsWhatIsKeptAsText) {
    StoreKeys keys;
    EXPECT_EQ(*keys.add("n", 5), 5);
    EXPECT_EQ(*keys.add("n", -7), -2);
    EXPECT_EQ(keys.get("n"), "-2");
    for (const char* bad : {"", "x", "1x", " 1", "99999999999999999999"}) {
        keys.set("n", bad);
        EXPECT_EQ(keys.add("n", 1).error().code(), Code::kInvalid) << bad;
        EXPECT_EQ(keys.get("n"), bad) << "it is left as it was";
    }
    keys.set("n", "9223372036854775807");
    EXPECT_FALSE(keys.add("n", 1));
    EXPECT_TRUE(keys.add("n", -1));
}

TEST(StoreKeys, AWaitIsOverWhenAllKeysAreThereAndOnce) {
    StoreKeys keys;
    keys.set("a", "1");
    keys.wait(1, {"a"});
    EXPECT_THAT(keys.take_released(), ElementsAre(1)) << "at once";
    keys.wait(1, {"a", "b", "c", "b"});
    keys.wait(2, {"c"});
    keys.wait(3, {});
    EXPECT_THAT(keys.take_released(), ElementsAre(3));
    keys.append("c", "x");
    EXPECT_THAT(keys.take_released(), ElementsAre(2));
    keys.set("c", "y");
    EXPECT_THAT(keys.take_released(), IsEmpty());
    EXPECT_TRUE(keys.add("b", 1));
    EXPECT_THAT(keys.take_released(), ElementsAre(1));
    keys.set("b", "z");
    EXPECT_THAT(keys.take_released(), IsEmpty());
}

TEST(StoreKeys, AKeyThatIsTakenAwayIsMissingAgain) {
    StoreKeys keys;
    keys.set("a", "1");
    keys.wait(1, {"a", "b"});
    EXPECT_TRUE(keys.erase("a"));
    EXPECT_FALSE(keys.erase("a"));
    keys.set("b", "1");
    EXPECT_THAT(keys.take_released(), IsEmpty());
    keys.compare_set("a", "", "1");
    EXPECT_THAT(keys.take_released(), ElementsAre(1));
    EXPECT_EQ(keys.size(), 2u);
    EXPECT_THAT(keys.list(), UnorderedElementsAre("a", "b"));
}

TEST(StoreKeys, WhoDoesNotWaitAnyMoreIsNotReleased) {
    StoreKeys keys;
    keys.wait(1, {"a"});
    EXPECT_TRUE(keys.cancel(1));
    EXPECT_FALSE(keys.cancel(1));
    keys.set("a", "1");
    EXPECT_THAT(keys.take_released(), IsEmpty());
    keys.wait(2, {"b"});
    keys.wait(2, {"c"});
    keys.set("b", "1");
    EXPECT_THAT(keys.take_released(), IsEmpty()) << "it waits for something else now";
    keys.set("c", "1");
    EXPECT_THAT(keys.take_released(), ElementsAre(2));
}

TEST(StoreKeys, OneItemOfAQueueIsForOneWaiter) {
    StoreKeys keys;
    EXPECT_EQ(keys.pop("q"), std::nullopt);
    keys.wait(1, {"q"});
    keys.wait(2, {"q"});
    keys.push("q", "first");
    EXPECT_THAT(keys.take_released(), ElementsAre(1));
    EXPECT_EQ(keys.length("q"), 1u);
    EXPECT_EQ(keys.pop("q"), "first");
    keys.push("q", "second");
    EXPECT_THAT(keys.take_released(), ElementsAre(2));
    keys.wait(3, {"q"});
    EXPECT_THAT(keys.take_released(), ElementsAre(3)) << "it is still there";
    EXPECT_EQ(keys.pop("q"), "second");
    EXPECT_EQ(keys.length("q"), 0u);
    EXPECT_FALSE(keys.has_all({"q"}));
    EXPECT_EQ(keys.size(), 0u) << "a queue is no key";
}

TEST(StoreKeys, ABarrierOpensForItsMembersTogether) {
    StoreKeys keys;
    keys.arrive(1, "b", 3);
    keys.arrive(2, "b", 3);
    keys.arrive(9, "other", 2);
    EXPECT_TRUE(keys.cancel(2));
    keys.arrive(3, "b", 3);
    EXPECT_THAT(keys.take_released(), IsEmpty()) << "one has left";
    keys.arrive(2, "b", 3);
    EXPECT_THAT(keys.take_released(), UnorderedElementsAre(1, 2, 3));
    keys.arrive(1, "b", 2);
    EXPECT_THAT(keys.take_released(), IsEmpty()) << "the next round of it";
    keys.arrive(2, "b", 2);
    EXPECT_THAT(keys.take_released(), UnorderedElementsAre(1, 2));
}

TEST(StoreKeys, BegunAnewNothingIsThere) {
    StoreKeys keys;
    keys.set("a", "1");
    keys.push("q", "1");
    keys.wait(1, {"b"});
    keys.arrive(2, "bar", 2);
    keys.clear();
    EXPECT_FALSE(keys.has_all({"a"}));
    EXPECT_EQ(keys.length("q"), 0u);
    keys.set("b", "1");
    keys.arrive(3, "bar", 2);
    EXPECT_THAT(keys.take_released(), IsEmpty());
}

// Against a model that looks at everybody after each change.
TEST(StoreKeys, ReleasesExactlyThoseWhoHaveAllTheyWaitFor) {
    const std::vector<std::string> names = {"a", "b", "c", "d"};
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Rng rng(seed);
        StoreKeys keys;
        std::set<std::string> there;
        std::map<StoreKeys::Waiter, std::vector<std::string>> waits;
        StoreKeys::Waiter next = 0;
        for (int step = 0; step < 200; ++step) {
            const std::string& name = names[rng.below(names.size())];
            switch (rng.below(4)) {
                case 0:
                    keys.set(name, "x");
                    there.insert(name);
                    break;
                case 1:
                    ASSERT_EQ(keys.erase(name), there.erase(name) > 0);
                    break;
                case 2: {
                    std::vector<std::string> wanted;
                    for (const std::string& one : names)
                        if (rng.chance(0.4)) wanted.push_back(one);
                    waits[++next] = wanted;
                    keys.wait(next, wanted);
                    break;
                }
                default:
                    if (!waits.empty() && rng.chance(0.3)) {
                        keys.cancel(waits.begin()->first);
                        waits.erase(waits.begin());
                    }
            }
            std::vector<StoreKeys::Waiter> wanted;
            for (const auto& [waiter, missing] : waits)
                if (std::ranges::all_of(missing, [&](auto& key) { return there.contains(key); }))
                    wanted.push_back(waiter);
            for (const StoreKeys::Waiter waiter : wanted) waits.erase(waiter);
            ASSERT_THAT(keys.take_released(), testing::UnorderedElementsAreArray(wanted))
                << "seed " << seed << " step " << step;
        }
    }
}

}  // namespace
}  // namespace muster::tcp_store::stored_keys_test
