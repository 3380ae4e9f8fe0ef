#include "master/wishes/wishes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace muster::master::wishes_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const Instant kStart = Instant() + 1h;
const WallTime kToday = WallTime() + 20000h;

/// "n1, n2 (60) | moved a | spares b": hosts with the seconds until they count again.
std::string shown(const std::optional<Wish>& wish) {
    if (!wish) return "nothing yet";
    std::string text;
    for (const LeftOut& one : wish->left_out)
        text += fmt::format(
            "{}{}{}", text.empty() ? "" : ", ", one.host,
            one.until
                ? fmt::format(
                      " ({})",
                      std::chrono::duration_cast<std::chrono::seconds>(*one.until - kToday).count())
                : "");
    for (const std::string& pod : wish->moved) text += " | moved " + pod;
    for (const std::string& pod : wish->spares) text += " | spare " + pod;
    return text;
}

/// Agents are called as their pods are.
class Story {
  public:
    explicit Story(const std::string& kept = {}) : wishes(kept) {}

    void join(const std::string& pod, const std::string& host, bool is_new = true) {
        wishes.joined(pod, {.pod = pod, .host = host, .is_new = is_new});
    }
    void exclude(const std::string& pod, const std::string& host,
                 std::optional<Duration> counts = {}) {
        wishes.excluded(pod, host, counts ? std::optional(kToday + *counts) : std::nullopt);
    }
    std::string after(Duration passed) {
        now += passed;
        wishes.advance(now);
        return shown(wishes.wish(kToday + (now - kStart)));
    }

    Wishes wishes;
    Instant now = kStart;
};

TEST(Wishes, NothingIsKnownAtFirst) {
    Story story;
    EXPECT_EQ(story.after(0s), "nothing yet");
    story.join("a", "n1");
    EXPECT_EQ(story.after(1h), "nothing yet") << "no world runs";
    EXPECT_EQ(story.wishes.wake_at(), Instant::max());
}

TEST(Wishes, TheMachineOfABadNodeIsLeftOutForAsLongAsThatCounts) {
    Story story;
    story.join("a", "n1");
    story.exclude("a", "n1", 60s);
    EXPECT_EQ(story.after(0s), "n1 (60)") << "its own pod is replaced without a wish";
    story.exclude("b", "n2");
    story.exclude("c", "n1", 600s);
    EXPECT_EQ(story.after(0s), "n2, n1 (600)");
    EXPECT_EQ(story.after(600s), "n2");
}

TEST(Wishes, APodThatCameThereAllTheSameIsMoved) {
    Story story;
    story.join("a", "n1");
    story.join("beside", "n1");
    story.exclude("a", "n1", 60s);
    EXPECT_EQ(story.after(0s), "n1 (60)") << "what runs there stays";
    story.join("a2", "n1");
    story.join("taken-over", "n1", false);
    story.join("b2", "n2");
    EXPECT_EQ(story.after(0s), "n1 (60) | moved a2");
    story.join("a2", "n1");
    EXPECT_EQ(story.after(0s), "n1 (60) | moved a2") << "its connection broke";
    story.wishes.lost("a2");
    EXPECT_EQ(story.after(0s), "n1 (60)");
    story.join("a3", "n1");
    EXPECT_EQ(story.after(60s), "nothing yet") << "n1 may have pods again";
}

TEST(Wishes, AnotherFailureThereIsOfItsOwnPodOnly) {
    Story story;
    story.exclude("a", "n1");
    story.join("a2", "n1");
    story.join("b2", "n1");
    EXPECT_EQ(story.after(0s), "n1 | moved a2 | moved b2");
    story.exclude("a2", "n1");
    EXPECT_EQ(story.after(0s), "n1");
}

TEST(Wishes, SparesAreThoseWithoutAPlaceOnceAllIsQuiet) {
    Story story;
    for (const char* pod : {"a", "b", "c"}) story.join(pod, "");
    story.wishes.world_is(std::set<std::string>{"a", "b"});
    EXPECT_EQ(story.after(0s), "nothing yet");
    EXPECT_EQ(story.wishes.wake_at(), kStart + Wishes::kSettles);
    EXPECT_EQ(story.after(20s), "nothing yet");
    story.join("d", "");
    EXPECT_EQ(story.after(0s), "nothing yet");
    EXPECT_EQ(story.after(20s), "nothing yet") << "d may be about to enlarge the world";
    EXPECT_EQ(story.after(Wishes::kSettles), " | spare c | spare d");
    EXPECT_EQ(story.wishes.wake_at(), Instant::max());
    story.wishes.world_is(std::nullopt);
    EXPECT_EQ(story.after(1h), " | spare c | spare d") << "those of the last world";
    story.wishes.lost("d");
    EXPECT_EQ(story.after(0s), " | spare c");
    story.wishes.world_is(std::set<std::string>{"a", "b", "c"});
    EXPECT_EQ(story.after(0s), " | spare c");
    EXPECT_EQ(story.after(Wishes::kSettles), "") << "there are none, and that is known";
}

TEST(Wishes, TheNextMasterKnowsWhatIsLeftOut) {
    Story first;
    first.exclude("a", "n1", 60s);
    first.exclude("b", "n2");
    Story next(first.wishes.kept());
    EXPECT_EQ(next.after(0s), "n1 (60), n2");
    EXPECT_EQ(next.wishes.kept(), first.wishes.kept());
    next.join("c", "n2", false);
    EXPECT_EQ(next.after(0s), "n1 (60), n2") << "it ran when the first one lived";
    EXPECT_EQ(shown(Wishes("n1\n x").wish(kToday)), "nothing yet");
    EXPECT_EQ(shown(Wishes("n1 soon\na/b -\nn3 -\nn4").wish(kToday)), "n3");
}

TEST(Wishes, NamesOfAgentsAreChecked) {
    Story story;
    for (const std::string& host : {std::string(), std::string("a b"), std::string("-a"),
                                    std::string("a\n"), std::string(64, 'a'), std::string("\xff")})
        story.exclude("x", host);
    EXPECT_EQ(story.after(0s), "nothing yet");
    story.exclude("x", std::string(63, 'a'));
    story.join(std::string(254, 'p'), std::string(63, 'a'));
    story.join("\"p\"", std::string(63, 'a'));
    EXPECT_THAT(story.wishes.wish(kToday)->moved, IsEmpty());
    story.join("p.1", std::string(63, 'a'));
    EXPECT_THAT(story.wishes.wish(kToday)->moved, ElementsAre("p.1"));
}

TEST(Wishes, TheirNumbersAreBounded) {
    Story story;
    for (int i = 0; i < 40; ++i) story.exclude("x", fmt::format("n{}", i));
    for (int i = 0; i < 300; ++i) story.join(fmt::format("p{}", i), "n39");
    story.wishes.world_is(std::set<std::string>{});
    story.after(0s);
    story.after(Wishes::kSettles);
    const Wish wish = story.wishes.wish(kToday).value();
    ASSERT_EQ(wish.left_out.size(), Wishes::kMostLeftOut);
    EXPECT_EQ(wish.left_out.front().host, "n8");
    EXPECT_EQ(wish.moved.size(), Wishes::kMostLeftOut);
    EXPECT_EQ(wish.spares.size(), Wishes::kMostSpares);
}

}  // namespace
}  // namespace muster::master::wishes_test
