#include "kube/client/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/log.h"
#include "kube/client/informer.h"
#include "kube/client/reflector_fixture.h"
#include "kube/objects/api_status.h"

namespace muster::kube::reflector_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(ReflectorTest, ListsThenFollowsTheWatch) {
    expect_list("", page("5", {pod("a", "3"), pod("b", "4")}));
    auto watch = expect_watch("5");
    start();
    EXPECT_THAT(take_seen(), ElementsAre("list ns/a ns/b"));
    EXPECT_TRUE(reflector->has_synced());
    watch->send(WatchEventType::kAdded, pod("c", "6"));
    watch->send(WatchEventType::kModified, pod("a", "7"));
    watch->send(WatchEventType::kDeleted, pod("b", "8"));
    settle();
    EXPECT_THAT(take_seen(), ElementsAre("upsert ns/c", "upsert ns/a", "erase ns/b"));
    EXPECT_TRUE(watch->open());
}

TEST_F(ReflectorTest, TheFirstListIsNeverOneOfACacheThatLags) {
    // Whoever was started again would act on older state than before its end.
    transport.expect(Method::kGet, kPods, {{"limit", "500"}}, page("5", {}));
    expect_watch("5");
    start();
    EXPECT_TRUE(reflector->has_synced());
}

TEST_F(ReflectorTest, WaitSyncedReturnsAfterTheFirstList) {
    transport.expect_hanging(Method::kGet, kPods, list_query(""));
    bool synced = false;
    auto wait = [](Reflector& r, bool& flag) -> Task<void> {
        co_await r.wait_synced();
        flag = true;
    };
    start();
    tasks.spawn("wait", wait(*reflector, synced));
    settle();
    EXPECT_FALSE(synced);
    EXPECT_FALSE(reflector->has_synced());
}

TEST_F(ReflectorTest, WaitSyncedWakesEveryWaiter) {
    expect_list("", Error(Code::kUnavailable, "down"));
    expect_list("", page("5", {}));
    expect_watch("5");
    int synced = 0;
    auto wait = [](Reflector& r, int& count) -> Task<void> {
        co_await r.wait_synced();
        ++count;
    };
    start();
    tasks.spawn("one", wait(*reflector, synced));
    tasks.spawn("two", wait(*reflector, synced));
    advance(10s);
    EXPECT_EQ(synced, 2);
    tasks.spawn("late", wait(*reflector, synced));
    settle();
    EXPECT_EQ(synced, 3);
}

TEST_F(ReflectorTest, ListsPageByPage) {
    expect_list("", page("5", {pod("a", "1")}, "token"));
    transport.expect(Method::kGet, kPods, {{"continue", "token"}, {"limit", "500"}},
                     page("5", {pod("b", "2")}));
    expect_watch("5");
    start();
    EXPECT_THAT(take_seen(), ElementsAre("list ns/a ns/b"));
}

TEST_F(ReflectorTest, AnExpiredPageStartsTheListAnew) {
    expect_list("", page("5", {pod("a", "1")}, "token"));
    transport.expect(Method::kGet, kPods, {{"continue", "token"}, {"limit", "500"}},
                     status_response(expired()));
    expect_list("", page("9", {pod("b", "2")}));
    expect_watch("9");
    start();
    EXPECT_THAT(take_seen(), ElementsAre("list ns/b"));
}

TEST_F(ReflectorTest, EachPageIsToldBeforeTheNextIsAskedFor) {
    expect_list("", page("5", {pod("a", "1"), pod("b", "2")}, "token"));
    transport.expect_hanging(Method::kGet, kPods, {{"continue", "token"}, {"limit", "500"}});
    start();
    EXPECT_EQ(list, "list ns/a ns/b");
    EXPECT_THAT(take_seen(), IsEmpty());
    EXPECT_FALSE(reflector->has_synced());
}

TEST_F(ReflectorTest, AListThatFailsHalfWayIsBegunAnew) {
    expect_list("", page("5", {pod("a", "1")}, "token"));
    transport.expect(Method::kGet, kPods, {{"continue", "token"}, {"limit", "500"}},
                     Error(Code::kUnavailable, "gone for a moment"));
    start();
    EXPECT_EQ(list, "list ns/a");
    EXPECT_FALSE(reflector->has_synced());
    expect_list("", page("9", {pod("b", "2")}));
    expect_watch("9");
    advance(2s);
    EXPECT_THAT(take_seen(), ElementsAre("list ns/b"));
}

// --- what matches one of several field selectors

Query fields_query(std::string_view fields, std::string_view revision, std::string_view more = {}) {
    Query query{{"fieldSelector", std::string(fields)}};
    if (!revision.empty()) query.emplace_back("resourceVersion", revision);
    if (!more.empty()) query.emplace_back("continue", more);
    query.emplace_back("limit", "500");
    return query;
}

TEST_F(ReflectorTest, SeveralFieldsAreListedAtOneRevisionAndWatchedAsOne) {
    make({"f=1", "f=2", "f=3"});
    transport.expect(Method::kGet, kPods, fields_query("f=1", ""),
                     page("5", {pod("a", "1")}, "t1"));
    transport.expect(Method::kGet, kPods, fields_query("f=1", "", "t1"),
                     page("5", {pod("b", "4")}));
    // With a limit a server takes a revision as the very one that is wanted.
    transport.expect(Method::kGet, kPods, fields_query("f=2", "5"),
                     page("5", {pod("c", "2")}, "t2"));
    transport.expect(Method::kGet, kPods, fields_query("f=2", "", "t2"),
                     page("5", {pod("d", "3")}));
    transport.expect(Method::kGet, kPods, fields_query("f=3", "5"), page("5", {}));
    auto watch = expect_watch("5");
    start();
    EXPECT_THAT(take_seen(), ElementsAre("list ns/a ns/b ns/c ns/d"));
    EXPECT_TRUE(reflector->has_synced());
    watch->send(WatchEventType::kAdded, pod("e", "6"));
    watch->send(WatchEventType::kError, status_from_error(expired()));
    // From its own revision on the first list may be of any later one, and comes whole.
    transport.expect(Method::kGet, kPods, {{"fieldSelector", "f=1"}, {"resourceVersion", "6"}},
                     page("8", {pod("a", "1")}));
    transport.expect(Method::kGet, kPods, fields_query("f=2", "8"), page("8", {}));
    transport.expect(Method::kGet, kPods, fields_query("f=3", "8"), page("8", {pod("e", "7")}));
    expect_watch("8");
    settle();
    EXPECT_THAT(take_seen(), ElementsAre("upsert ns/e", "list ns/a ns/e"));
}

TEST_F(ReflectorTest, WhenTheRevisionOfTheFirstListIsTooOldForTheSecondBothAreListedAnew) {
    make({"f=1", "f=2"});
    transport.expect(Method::kGet, kPods, fields_query("f=1", ""), page("5", {pod("a", "1")}));
    transport.expect(Method::kGet, kPods, fields_query("f=2", "5"), status_response(expired()));
    transport.expect(Method::kGet, kPods, fields_query("f=1", ""), page("9", {pod("b", "8")}));
    transport.expect(Method::kGet, kPods, fields_query("f=2", "9"), page("9", {pod("c", "2")}));
    expect_watch("9");
    start();
    EXPECT_THAT(take_seen(), ElementsAre("list ns/b ns/c"));
}

TEST_F(ReflectorTest, ACleanEndReopensFromTheLastEvent) {
    expect_list("", page("5", {}));
    auto first = expect_watch("5");
    start();
    first->send(WatchEventType::kAdded, pod("a", "6"));
    first->end();
    auto second = expect_watch("6");
    settle();
    EXPECT_FALSE(first->open());
    EXPECT_TRUE(second->open());
    EXPECT_THAT(take_seen(), ElementsAre("list", "upsert ns/a"));
}

TEST_F(ReflectorTest, ABookmarkMovesTheRevisionOnly) {
    expect_list("", page("5", {}));
    auto first = expect_watch("5");
    start();
    first->send(WatchEventType::kBookmark, bookmark("50"));
    first->end();
    expect_watch("50");
    settle();
    EXPECT_THAT(take_seen(), ElementsAre("list"));
}

TEST_F(ReflectorTest, AWatchThatEndsAtOnceBacksOff) {
    expect_list("", page("5", {}));
    auto first = expect_watch("5");
    first->end();
    start();
    advance(799ms);
    EXPECT_EQ(transport.requests().size(), 2u);
    auto second = expect_watch("5");
    advance(801ms);  // 0.8 s and up to as much jitter
    EXPECT_TRUE(second->open());
    // The same after a second of life is an ordinary end.
    advance(1s);
    second->end();
    auto third = expect_watch("5");
    settle();
    EXPECT_TRUE(third->open());
}

// client-go, reflector: a 410 inside the stream, and a 410 instead of one.
TEST_F(ReflectorTest, AnExpiredWatchListsAgainFromWhatItHas) {
    expect_list("", page("5", {pod("a", "5")}));
    auto watch = expect_watch("5");
    start();
    watch->send(WatchEventType::kAdded, pod("b", "6"));
    watch->send(WatchEventType::kError, status_from_error(expired()));
    expect_list("6", page("9", {pod("b", "6")}));
    transport.expect_refused_watch(kPods, watch_query("9"), expired());
    settle();
    EXPECT_THAT(take_seen(), ElementsAre("list ns/a", "upsert ns/b", "list ns/b"));
    // The revision of a list that just came is refused: a loop without a pause would follow.
    EXPECT_FALSE(watch->open());
    expect_list("9", page("10", {}));
    expect_watch("10");
    advance(2s);
    EXPECT_THAT(take_seen(), ElementsAre("list"));
}

TEST_F(ReflectorTest, ARevisionThatEvenTheListRefusesFallsBackToTheNewest) {
    expect_list("", page("5", {}));
    auto watch = expect_watch("5");
    start();
    watch->send(WatchEventType::kAdded, pod("a", "6"));
    watch->send(WatchEventType::kError, status_from_error(expired()));
    expect_list("6", status_response(expired()));
    expect_list("", page("9", {}));
    expect_watch("9");
    settle();
    EXPECT_THAT(take_seen(), ElementsAre("list", "upsert ns/a", "list"));
}

TEST_F(ReflectorTest, AServerThatLostItsHistoryIsListedAnew) {
    expect_list("", page("99", {}));
    transport.expect_refused_watch(kPods, watch_query("99"), too_large());
    start();
    expect_list("", page("7", {}));
    auto watch = expect_watch("7");
    advance(2s);
    EXPECT_TRUE(watch->open());
}

TEST_F(ReflectorTest, TheNewestIsAskedForUntilAListSucceeds) {
    expect_list("", page("99", {}));
    auto watch = expect_watch("99");
    start();
    watch->send(WatchEventType::kAdded, pod("a", "100"));
    watch->send(WatchEventType::kError, status_from_error(too_large()));
    expect_list("", Error(Code::kUnavailable, "restarting"));
    settle();
    expect_list("", page("7", {}));
    expect_watch("7");
    advance(2s);
}

struct WatchFailure {
    const char* name;
    Code code;
    bool lists_again;
};
class WatchFailureTest : public ReflectorTest,
                         public ::testing::WithParamInterface<WatchFailure> {};

TEST_P(WatchFailureTest, BacksOffAndResumes) {
    expect_list("", page("5", {}));
    auto first = expect_watch("5");
    start();
    first->send(WatchEventType::kAdded, pod("a", "6"));
    first->fail(Error(GetParam().code, "broken"));
    settle();
    advance(799ms);
    EXPECT_EQ(transport.requests().size(), 2u);
    if (GetParam().lists_again) expect_list("6", page("6", {pod("a", "6")}));
    auto second = expect_watch("6");
    advance(801ms);
    EXPECT_TRUE(second->open());
}

INSTANTIATE_TEST_SUITE_P(
    All, WatchFailureTest,
    ::testing::Values(WatchFailure{"connection_broken", Code::kUnavailable, false},
                      WatchFailure{"no_answer", Code::kTimeout, false},
                      WatchFailure{"too_many_requests", Code::kTooManyRequests, false},
                      WatchFailure{"internal", Code::kInternal, true},
                      WatchFailure{"forbidden", Code::kForbidden, true},
                      WatchFailure{"not_found", Code::kNotFound, true}),
    [](const auto& param_info) { return param_info.param.name; });

TEST_F(ReflectorTest, AnEventThatIsNoObjectListsAgain) {
    expect_list("", page("5", {}));
    auto first = expect_watch("5");
    start();
    first->send(WatchEventType::kModified, json::value("junk"));
    expect_list("5", page("6", {}));
    expect_watch("6");
    advance(2s);
    EXPECT_THAT(take_seen(), ElementsAre("list", "list"));
}

TEST_F(ReflectorTest, BackOffDoublesUpToItsLimitAndStartsAnewAfterAQuietTime) {
    const std::vector<Duration> waits =
        waits_of(10, status_response(Error(Code::kInternal, "a fault")));
    Duration base = 800ms;
    for (std::size_t i = 0; i < waits.size(); ++i) {
        EXPECT_GE(waits[i], base) << i;
        EXPECT_LE(waits[i], 2 * base) << i;
        base = std::min<Duration>(2 * base, 30s);
    }
    ASSERT_TRUE(watch->open());
    advance(3min);
    watch->fail(Error(Code::kUnavailable, "broken"));
    settle();
    auto again = expect_watch("5");
    advance(1600ms);
    EXPECT_TRUE(again->open());
}

TEST_F(ReflectorTest, AServerThatIsBackIsFoundSoonHoweverLongItWasAway) {
    std::vector<std::string> said;
    log::set_sink([&](log::Level, std::string_view line) { said.emplace_back(line); });
    // As a kube-apiserver that starts has it.
    Error starting(Code::kUnavailable, "not all known HTTP paths have been installed");
    starting.with_retry_after(5s);
    for (const Duration wait : waits_of(50, status_response(starting))) {
        EXPECT_GE(wait, 800ms);
        EXPECT_LE(wait, 1600ms);
    }
    log::set_sink({});
    EXPECT_TRUE(watch->open());
    EXPECT_THAT(said, ::testing::SizeIs(::testing::AllOf(::testing::Ge(2u), ::testing::Le(4u))))
        << "as it begins, and every half minute of the 40 to 80 s";
}

TEST_F(ReflectorTest, TheServersRetryAfterIsObeyed) {
    Error busy(Code::kTooManyRequests, "slow down");
    busy.with_retry_after(20s);
    expect_list("", status_response(busy));
    start();
    advance(19s);
    EXPECT_EQ(transport.requests().size(), 1u);
    expect_list("", page("5", {}));
    expect_watch("5");
    advance(1s);
    EXPECT_TRUE(reflector->has_synced());
}

TEST_F(ReflectorTest, AListWithoutARevisionIsRefused) {
    expect_list("", json_response({{"items", json::array{pod("a", "1")}}}));
    start();
    EXPECT_FALSE(reflector->has_synced());
    EXPECT_THAT(take_seen(), IsEmpty());
}

// --- stop() in each of the waits

TEST_F(ReflectorTest, StopsWhileTheListIsInFlight) {
    transport.expect_hanging(Method::kGet, kPods, list_query(""));
    start();
    ASSERT_EQ(tasks.size(), 1u);
    stop();
    EXPECT_EQ(tasks.size(), 0u);
}

TEST_F(ReflectorTest, StopsWhileTheWatchWaits) {
    expect_list("", page("5", {}));
    auto watch = expect_watch("5");
    start();
    ASSERT_TRUE(watch->open());
    stop();
    EXPECT_FALSE(watch->open());
    EXPECT_EQ(tasks.size(), 0u);
}

TEST_F(ReflectorTest, StopsWhileBackingOff) {
    expect_list("", Error(Code::kUnavailable, "down"));
    start();
    ASSERT_NE(clock.next_deadline(), Instant::max());
    stop();
    EXPECT_EQ(tasks.size(), 0u);
    EXPECT_EQ(clock.next_deadline(), Instant::max());
}

TEST_F(ReflectorTest, StopsWhenTheTransportSaysSo) {
    expect_list("", Error(Code::kCancelled, "stopping"));
    start();
    EXPECT_EQ(tasks.size(), 0u);
}

// --- what the cache of an informer makes of it

TEST_F(ReflectorTest, AHandlerThatThrowsMissesOneChange) {
    ListOptions options;
    options.namespace_ = "ns";
    Informer<std::string> informer(
        client, clock, rng, types::kPods, options,
        [](const json::value& object) -> std::optional<std::string> {
            const json::object& metadata = object.at("metadata").as_object();
            if (metadata.at("name") == "c") throw std::runtime_error("a projection's fault");
            return std::string(metadata.at("resourceVersion").as_string());
        });
    std::vector<std::string> seen, seen_by_other;
    informer.on_change([&](const std::string& key, const std::string*, const std::string*) {
        if (key == "ns/a") throw std::runtime_error("a handler's fault");
        seen.push_back(key);
    });
    informer.on_change([&](const std::string& key, const std::string*, const std::string*) {
        seen_by_other.push_back(key);
    });
    expect_list("", page("5", {pod("a", "3"), pod("c", "3"), pod("b", "4")}));
    auto watch = expect_watch("5");
    informer.start(tasks);
    settle();
    watch->send(WatchEventType::kModified, pod("a", "6"));
    watch->send(WatchEventType::kModified, pod("c", "7"));
    watch->send(WatchEventType::kModified, pod("b", "8"));
    settle();
    EXPECT_TRUE(informer.has_synced());
    EXPECT_THAT(seen, ElementsAre("ns/b", "ns/b"));
    EXPECT_THAT(seen_by_other, ElementsAre("ns/a", "ns/b", "ns/a", "ns/b"));
    EXPECT_EQ(*informer.find("ns/a"), "6");
}

TEST_F(ReflectorTest, AnInformerSeesEveryChangeWithBothStates) {
    ListOptions options;
    options.namespace_ = "ns";
    Informer<std::string> informer(
        client, clock, rng, types::kPods, options,
        [](const json::value& object) -> std::optional<std::string> {
            const json::object& metadata = object.at("metadata").as_object();
            std::string revision(metadata.at("resourceVersion").as_string().c_str());
            if (revision == "13") return std::nullopt;
            return revision;
        });
    std::vector<std::string> changes;
    informer.on_change(
        [&](const std::string& key, const std::string* before, const std::string* after) {
            changes.push_back(key + " " + (before ? *before : "-") + " " + (after ? *after : "-"));
        });
    expect_list("", page("5", {pod("a", "3"), pod("b", "4")}));
    auto watch = expect_watch("5");
    informer.start(tasks);
    settle();
    EXPECT_TRUE(informer.has_synced());
    EXPECT_THAT(std::exchange(changes, {}), ElementsAre("ns/a - 3", "ns/b - 4"));

    watch->send(WatchEventType::kModified, pod("a", "6"));
    watch->send(WatchEventType::kDeleted, pod("b", "7"));
    watch->send(WatchEventType::kDeleted, pod("never-seen", "8"));
    settle();
    EXPECT_THAT(std::exchange(changes, {}), ElementsAre("ns/a 3 6", "ns/b 4 -"));
    ASSERT_TRUE(informer.find("ns/a"));
    EXPECT_EQ(*informer.find("ns/a"), "6");
    EXPECT_FALSE(informer.find("ns/b"));

    // What was deleted unobserved is reported after the next list.
    watch->send(WatchEventType::kError, status_from_error(expired()));
    expect_list("8", page("20", {pod("c", "19")}));
    auto second = expect_watch("20");
    settle();
    EXPECT_THAT(std::exchange(changes, {}), ElementsAre("ns/c - 19", "ns/a 6 -"));

    // A projection that gives nothing drops the object.
    second->send(WatchEventType::kModified, pod("c", "13"));
    settle();
    EXPECT_THAT(std::exchange(changes, {}), ElementsAre("ns/c 19 -"));
    EXPECT_TRUE(informer.items().empty());
    stop();
}

TEST_F(ReflectorTest, LargeObjectsAreReadApartAndInTheirTurn) {
    const auto large = [](std::string_view name, std::string_view revision) {
        json::value made = pod(name, revision);
        made.at("metadata").as_object()["annotations"] = {
            {"large", std::string(kWorthSideThread, 'x')}};
        return made;
    };
    const auto name_of = [](const json::value& object) {
        return std::string(object.at("metadata").at("name").as_string());
    };
    ListOptions options;
    options.namespace_ = "ns";
    Informer<std::string> informer(
        client, clock, rng, types::kPods, options,
        [&](const json::value& object) { return std::optional("small " + name_of(object)); });
    informer.read_large_with([&](ObjectPtr object) -> Task<std::optional<std::string>> {
        return [](Clock& time, std::string name) -> Task<std::optional<std::string>> {
            co_await time.sleep_for(1s);
            if (name == "throws") throw std::runtime_error("a fault");
            if (name == "dropped") co_return std::nullopt;
            co_return "large " + name;
        }(clock, name_of(*object));
    });
    std::vector<std::string> changes;
    informer.on_change([&](const std::string&, const std::string*, const std::string* after) {
        changes.push_back(after == nullptr ? "gone" : *after);
    });
    expect_list("", page("5", {pod("a", "3"), large("b", "4")}));
    auto followed = expect_watch("5");
    informer.start(tasks);
    settle();
    EXPECT_FALSE(informer.has_synced());
    advance(1s);
    EXPECT_THAT(std::exchange(changes, {}), ElementsAre("small a", "large b"));
    followed->send(WatchEventType::kModified, large("a", "6"));
    followed->send(WatchEventType::kAdded, pod("c", "7"));
    settle();
    EXPECT_THAT(changes, IsEmpty()) << "c waits for its turn";
    advance(1s);
    EXPECT_THAT(std::exchange(changes, {}), ElementsAre("large a", "small c"));
    followed->send(WatchEventType::kAdded, large("throws", "8"));
    followed->send(WatchEventType::kAdded, large("dropped", "9"));
    followed->send(WatchEventType::kDeleted, large("a", "10"));
    advance(2s);
    EXPECT_THAT(std::exchange(changes, {}), ElementsAre("small throws", "gone"));
    followed->send(WatchEventType::kAdded, large("d", "11"));
    settle();
    stop();
}

TEST_F(ReflectorTest, AnInformerTellsHowEachListWent) {
    ListOptions options;
    options.namespace_ = "ns";
    Informer<bool> informer(client, clock, rng, types::kPods, options,
                            [](const json::value&) { return std::optional(true); });
    std::vector<std::string> told;
    informer.on_list([&](const Error* error) {
        told.push_back(error ? std::string(to_string(error->code()))
                             : std::to_string(informer.items().size()));
    });
    expect_list("", status_response(Error(Code::kNotFound, "no such type")));
    expect_list("", page("5", {pod("a", "3"), pod("b", "4")}));
    expect_watch("5");
    informer.start(tasks);
    settle();
    EXPECT_THAT(told, ElementsAre(std::string(to_string(Code::kNotFound))));
    advance(2s);
    EXPECT_THAT(told, ElementsAre(std::string(to_string(Code::kNotFound)), "2"))
        << "once what it brought is there";
    stop();
}

TEST_F(ReflectorTest, AnInformerTakesAListWhenItIsCompleteAndNothingOfOneThatIsNot) {
    ListOptions options;
    options.namespace_ = "ns";
    std::vector<std::string> projected;
    Informer<std::string> informer(
        client, clock, rng, types::kPods, options,
        [&](const json::value& object) -> std::optional<std::string> {
            const json::object& metadata = object.at("metadata").as_object();
            projected.emplace_back(metadata.at("name").as_string());
            if (projected.back() == "unwanted") return std::nullopt;
            return std::string(metadata.at("resourceVersion").as_string());
        });
    std::vector<std::string> changes;
    informer.on_change(
        [&](const std::string& key, const std::string* before, const std::string* after) {
            changes.push_back(key + " " + (before ? *before : "-") + " " + (after ? *after : "-"));
        });
    const Query second_page{{"continue", "token"}, {"limit", "500"}};
    expect_list("", page("5", {pod("a", "3"), pod("b", "4")}));
    auto watch = expect_watch("5");
    informer.start(tasks);
    settle();
    EXPECT_THAT(std::exchange(changes, {}), ElementsAre("ns/a - 3", "ns/b - 4"));

    // Half a list shows nothing, whether it brings, changes or lacks something.
    watch->send(WatchEventType::kModified, pod("a", "6"));
    watch->send(WatchEventType::kError, status_from_error(too_large()));
    expect_list("", page("20", {pod("b", "18"), pod("c", "19")}, "token"));
    transport.expect(Method::kGet, kPods, second_page, Error(Code::kUnavailable, "down"));
    settle();
    EXPECT_THAT(projected, ElementsAre("a", "b", "a", "b", "c"))
        << "a page is projected as it comes";
    EXPECT_THAT(std::exchange(changes, {}), ElementsAre("ns/a 3 6"));
    EXPECT_EQ(*informer.find("ns/b"), "4");

    // The next one is complete, and knows nothing of the one before.
    expect_list("", page("30", {pod("b", "28"), pod("unwanted", "29")}, "token"));
    transport.expect(Method::kGet, kPods, second_page, page("30", {pod("d", "27")}));
    expect_watch("30");
    advance(2s);
    EXPECT_THAT(changes, ElementsAre("ns/b 4 28", "ns/d - 27", "ns/a 6 -"));
    EXPECT_EQ(informer.items().size(), 2u);
    stop();
}

}  // namespace
}  // namespace muster::kube::reflector_test
