#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"
#include "base/async/task_fault.h"

namespace muster::apiserver::watch_test {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

ApiServerOptions small_server() {
    ApiServerOptions options;
    options.watches.history.changes = 5;
    options.watches.watcher_buffer = 4;
    return options;
}

class WatchTest : public ServerFixture {
  protected:
    explicit WatchTest(ApiServerOptions options = {}) : ServerFixture(options) {}

    static std::string map(std::string_view name, std::string_view label, std::string_view value) {
        return fmt::format(
            R"({{"metadata":{{"name":"{}","labels":{{"k":"{}"}}}},"data":{{"v":"{}"}}}})", name,
            label, value);
    }
    void touch(std::string_view name, int value) {
        merge_patch(fmt::format("{}/{}", kMaps, name),
                    fmt::format(R"({{"data":{{"v":"{}"}}}})", value));
    }
    std::string now() { return revision(get(kMaps)); }
};

class SmallWatchTest : public WatchTest {
  protected:
    SmallWatchTest() : WatchTest(small_server()) {}
};

TEST_F(WatchTest, WithoutARevisionTheStateComesFirstThenChanges) {
    post(kMaps, config_map("a"));
    for (const char* from : {"", "0"}) {
        auto watch = open_watch(kMaps, {{"resourceVersion", from}});
        EXPECT_EQ(drain(*watch), "ADDED a");
        touch("a", *from == '0' ? 5 : 6);
        EXPECT_EQ(drain(*watch), "MODIFIED a");
    }
}

TEST_F(WatchTest, FromARevisionOnlyWhatCameAfterIsReplayed) {
    post(kMaps, config_map("a"));
    const std::string from = now();
    post(kMaps, config_map("b"));
    touch("a", 2);
    remove(std::string(kMaps) + "/b");
    auto watch = open_watch(kMaps, {{"resourceVersion", from}});
    EXPECT_EQ(drain(*watch), "ADDED b, MODIFIED a, DELETED b");
    post("/api/v1/namespaces/kube-public/configmaps", config_map("elsewhere"));
    EXPECT_EQ(drain(*watch), "");
    auto everywhere = open_watch("/api/v1/configmaps", {{"resourceVersion", from}});
    EXPECT_EQ(drain(*everywhere), "ADDED b, MODIFIED a, DELETED b, ADDED elsewhere");
}

TEST_F(SmallWatchTest, TheLongestTimeThatCanBeAskedForIsALongOne) {
    post(kMaps, config_map("a"));
    auto watch =
        open_watch(kMaps, {{"resourceVersion", "0"}, {"timeoutSeconds", "9223372036854775807"}});
    bool ended = false;
    EXPECT_EQ(events(*watch, &ended).size(), 1u);
    EXPECT_FALSE(ended);
}

TEST_F(SmallWatchTest, FromTooOldARevisionThereIsOneErrorEventAndTheEnd) {
    post(kMaps, config_map("a"));
    const std::string from = now();
    for (int i = 0; i < 8; ++i) touch("a", 10 + i);
    auto watch = open_watch(kMaps, {{"resourceVersion", from}});
    bool ended = false;
    const auto seen = events(*watch, &ended);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_TRUE(ended);
    EXPECT_EQ(seen[0].type, kube::WatchEventType::kError);
    EXPECT_EQ(seen[0].object->at("code"), 410);
    EXPECT_EQ(seen[0].object->at("reason"), "Expired");
    EXPECT_THAT(std::string(seen[0].object->at("message").as_string()),
                HasSubstr("too old resource version: " + from + " ("));
}

class ShortHistoryWatchTest : public WatchTest {
  protected:
    ShortHistoryWatchTest() : WatchTest({.watches = {.history = {.bytes = 3000}}}) {}
};

TEST_F(ShortHistoryWatchTest, LargeStatesPushOldOnesOut) {
    post(kMaps, map("a", "x", std::string(1000, 'x')));
    const std::string first = now();
    touch("a", 1);
    const std::string second = now();
    post(kMaps, map("b", "x", std::string(5000, 'x')));
    EXPECT_EQ(drain(*open_watch(kMaps, {{"resourceVersion", first}})), "MODIFIED a, ADDED b")
        << "what is not past does not count";
    touch("b", 1);
    const auto seen = events(*open_watch(kMaps, {{"resourceVersion", first}}));
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].object->at("code"), 410);
    auto resumed = open_watch(kMaps, {{"resourceVersion", now()}});
    touch("a", 2);
    remove(std::string(kMaps) + "/b");
    EXPECT_EQ(drain(*resumed), "MODIFIED a, DELETED b");
    EXPECT_EQ(drain(*open_watch(kMaps, {{"resourceVersion", second}})), "ERROR, EOF");
}

TEST_F(SmallWatchTest, ChangesOfOtherResourcesPushOldOnesOutToo) {
    constexpr const char* kAccounts = "/api/v1/namespaces/default/serviceaccounts";
    const std::string from = now();
    post(kMaps, config_map("a"));
    const std::string after_a = now();
    for (int i = 0; i < 4; ++i)
        post(kAccounts, fmt::format(R"({{"metadata":{{"name":"s{}"}}}})", i));
    EXPECT_EQ(drain(*open_watch(kMaps, {{"resourceVersion", from}})), "ADDED a");
    post(kAccounts, R"({"metadata":{"name":"s4"}})");
    const auto seen = events(*open_watch(kMaps, {{"resourceVersion", from}}));
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].object->at("code"), 410);
    // Of config maps nothing is missing since.
    auto resumed = open_watch(kMaps, {{"resourceVersion", after_a}});
    EXPECT_EQ(drain(*resumed), "");
    touch("a", 2);
    EXPECT_EQ(drain(*resumed), "MODIFIED a");
}

TEST_F(SmallWatchTest, AReaderThatFallsBehindIsEndedWithAnErrorEvent) {
    auto slow = open_watch(kMaps, {{"resourceVersion", now()}});
    auto quick = open_watch(kMaps, {{"resourceVersion", now()}});
    for (int i = 0; i < 6; ++i) {
        post(kMaps, config_map("m" + std::to_string(i)));
        EXPECT_EQ(drain(*quick), "ADDED m" + std::to_string(i));
    }
    bool ended = false;
    const auto seen = events(*slow, &ended);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].object->at("code"), 410);
    EXPECT_TRUE(ended);
}

TEST_F(SmallWatchTest, AManyObjectsToBeginWithAreNotFallingBehind) {
    for (int i = 0; i < 10; ++i) post(kMaps, config_map("m" + std::to_string(i)));
    auto watch = open_watch(kMaps);
    EXPECT_EQ(events(*watch).size(), 10u);
}

TEST_F(WatchTest, FromAFutureRevisionItIsSilentUntilThen) {
    post(kMaps, config_map("a"));
    const int next = std::stoi(now()) + 2;
    auto watch = open_watch(kMaps, {{"resourceVersion", std::to_string(next)}});
    touch("a", 2);
    touch("a", 3);
    EXPECT_EQ(drain(*watch), "");
    touch("a", 4);
    EXPECT_EQ(drain(*watch), "MODIFIED a");
}

TEST_F(WatchTest, SelectorsTurnComingAndGoingIntoAddedAndDeleted) {
    auto watch = open_watch(kMaps, {{"resourceVersion", now()}, {"labelSelector", "k=x"}});
    post(kMaps, map("a", "y", "1"));
    merge_patch(std::string(kMaps) + "/a", R"({"metadata":{"labels":{"k":"x"}},"data":{"v":"2"}})");
    touch("a", 3);
    const kube::Response left = merge_patch(
        std::string(kMaps) + "/a", R"({"metadata":{"labels":{"k":"z"}},"data":{"v":"4"}})");
    touch("a", 5);
    remove(std::string(kMaps) + "/a");
    const auto seen = events(*watch);
    ASSERT_EQ(seen.size(), 3u);
    EXPECT_EQ(kube::event_type_name(seen[0].type), "ADDED");
    EXPECT_EQ(kube::event_type_name(seen[1].type), "MODIFIED");
    EXPECT_EQ(kube::event_type_name(seen[2].type), "DELETED");
    EXPECT_EQ(seen[2].object->at("data").at("v"), "3") << "the last state that matched";
    EXPECT_EQ(seen[2].object->at("metadata").at("resourceVersion"), json::value(revision(left)))
        << "with the revision of the change";
}

TEST_F(WatchTest, OneObjectIsWatchedByItsName) {
    auto watch =
        open_watch(kMaps, {{"resourceVersion", now()}, {"fieldSelector", "metadata.name=b"}});
    auto anywhere = open_watch("/api/v1/configmaps",
                               {{"resourceVersion", now()}, {"fieldSelector", "metadata.name=b"}});
    for (const char* name : {"a", "b", "c"}) post(kMaps, config_map(name));
    post("/api/v1/namespaces/kube-public/configmaps", config_map("b"));
    remove(std::string(kMaps) + "/b");
    EXPECT_EQ(drain(*watch), "ADDED b, DELETED b");
    EXPECT_EQ(drain(*anywhere), "ADDED b, ADDED b, DELETED b");
}

TEST_F(WatchTest, FieldSelectorsFollowPodPhases) {
    const char* pods = "/api/v1/namespaces/default/pods";
    post(pods, pod("p"));
    auto watch = open_watch(pods, {{"resourceVersion", revision(get(pods))},
                                   {"fieldSelector", "status.phase=Running"}});
    merge_patch(std::string(pods) + "/p/status", R"({"status":{"phase":"Running"}})");
    merge_patch(std::string(pods) + "/p/status", R"({"status":{"phase":"Failed"}})");
    EXPECT_EQ(drain(*watch), "ADDED p, DELETED p");
}

TEST_F(WatchTest, BookmarksComeOnceAMinuteWithTheCurrentRevisionIfAskedFor) {
    auto with = open_watch(kMaps, {{"resourceVersion", now()}, {"allowWatchBookmarks", "true"}});
    auto without = open_watch(kMaps, {{"resourceVersion", now()}});
    post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
    advance(61s);
    const auto seen = events(*with);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].type, kube::WatchEventType::kBookmark);
    EXPECT_EQ(*seen[0].object, (json::object{{"kind", "ConfigMap"},
                                             {"apiVersion", "v1"},
                                             {"metadata", {{"resourceVersion", now()}}}}));
    EXPECT_EQ(drain(*without), "");
    advance(60s);
    EXPECT_EQ(drain(*with), "BOOKMARK");
}

TEST_F(WatchTest, ATimeoutIsACleanEndWithABookmarkShortlyBefore) {
    auto watch = open_watch(
        kMaps,
        {{"resourceVersion", now()}, {"allowWatchBookmarks", "1"}, {"timeoutSeconds", "10"}});
    advance(7s);
    EXPECT_EQ(drain(*watch), "");
    advance(2s);
    EXPECT_EQ(drain(*watch), "BOOKMARK");
    advance(2s);
    EXPECT_EQ(drain(*watch), "EOF");
}

TEST_F(WatchTest, ATimeoutIsACleanEndAfterAFaultToo) {
    std::unique_ptr<kube::WatchStream> watch;
    {
        const TaskFault fault("watch deadlines");
        watch = open_watch(kMaps, {{"resourceVersion", now()}, {"timeoutSeconds", "10"}});
        settle();
        EXPECT_EQ(fault.hits(), 1u);
    }
    advance(9s);
    EXPECT_EQ(drain(*watch), "");
    advance(1s);
    EXPECT_EQ(drain(*watch), "EOF");
}

// Its client lists again: it would never learn of the change otherwise.
TEST_F(WatchTest, AWatchThatCouldNotTakeAChangeEndsAndTheOthersAreTold) {
    auto all = open_watch(kMaps, {{"resourceVersion", now()}});
    auto one =
        open_watch(kMaps, {{"resourceVersion", now()}, {"fieldSelector", "metadata.name=b"}});
    {
        const TaskFault fault("watch");
        EXPECT_EQ(post(kMaps, config_map("a")).status, 201);
        EXPECT_EQ(fault.hits(), 1u);
    }
    EXPECT_EQ(drain(*all), "ERROR, EOF");
    post(kMaps, config_map("b"));
    EXPECT_EQ(drain(*one), "ADDED b");
}

TEST_F(WatchTest, WithoutATimeoutAWatchEndsAfterHalfAnHourToAnHour) {
    auto watch = open_watch(kMaps, {{"resourceVersion", now()}});
    advance(29min);
    EXPECT_EQ(drain(*watch), "");
    advance(32min);
    EXPECT_EQ(drain(*watch), "EOF");
}

TEST_F(WatchTest, InitialEventsEndWithABookmarkThatSaysSo) {
    post(kMaps, config_map("a"));
    auto watch = open_watch(kMaps, {{"sendInitialEvents", "true"},
                                    {"resourceVersionMatch", "NotOlderThan"},
                                    {"resourceVersion", now()},
                                    {"allowWatchBookmarks", "true"}});
    const auto seen = events(*watch);
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].type, kube::WatchEventType::kAdded);
    EXPECT_EQ(seen[1].type, kube::WatchEventType::kBookmark);
    EXPECT_EQ(seen[1].object->at("metadata").at("annotations").at("k8s.io/initial-events-end"),
              "true");
    EXPECT_EQ(seen[1].object->at("metadata").at("resourceVersion"), json::value(now()));
    post(kMaps, config_map("b"));
    EXPECT_EQ(drain(*watch), "ADDED b");
}

struct BadWatch {
    std::vector<std::pair<std::string, std::string>> query;
    Code code;
    const char* message;
};

TEST_F(WatchTest, WatchesThatCannotBeAreRefusedBeforeTheStream) {
    const std::vector<BadWatch> rows = {
        {{{"resourceVersion", "abc"}}, Code::kInternal, "invalid resource version"},
        {{{"labelSelector", "a b"}}, Code::kBadRequest, "unable to parse requirement"},
        {{{"fieldSelector", "data.x=y"}},
         Code::kBadRequest,
         "\"data.x\" is not a known field selector: only \"metadata.name\", "
         "\"metadata.namespace\""},
        {{{"sendInitialEvents", "true"}},
         Code::kInvalid,
         "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
        {{{"resourceVersionMatch", "NotOlderThan"}},
         Code::kInvalid,
         "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"},
    };
    for (const BadWatch& row : rows) {
        const auto stream = try_watch(kMaps, row.query);
        ASSERT_FALSE(stream) << row.message;
        EXPECT_EQ(stream.error().code(), row.code);
        EXPECT_THAT(stream.error().message(), HasSubstr(row.message));
    }
    EXPECT_EQ(try_watch("/api/v1/namespaces/default/podz").error().code(), Code::kNotFound);
}

TEST_F(WatchTest, EveryWatcherSharesTheObjectOfAChange) {
    auto a = open_watch(kMaps, {{"resourceVersion", now()}});
    auto b = open_watch("/api/v1/configmaps", {{"resourceVersion", now()}});
    post(kMaps, config_map("m"));
    const auto seen_a = events(*a);
    const auto seen_b = events(*b);
    ASSERT_EQ(seen_a.size(), 1u);
    ASSERT_EQ(seen_b.size(), 1u);
    EXPECT_EQ(seen_a[0].object, seen_b[0].object);
    EXPECT_EQ(seen_a[0].object, get(std::string(kMaps) + "/m").body);
}

TEST_F(WatchTest, StreamsThatOutliveTheServerJustEnd) {
    auto watch = open_watch(kMaps, {{"resourceVersion", now()}});
    stop();
    EXPECT_EQ(drain(*watch), "EOF");
}

/// What a client makes of a list and the watch after it.
struct Replica {
    std::unique_ptr<kube::WatchStream> stream;
    std::map<std::string, std::string> versions;
    std::uint64_t last = 0;
    std::string selector;
};

class RandomWatchTest : public WatchTest, public ::testing::WithParamInterface<int> {};

TEST_P(RandomWatchTest, ReplayedStatesEqualTheList) {
    Rng rng(static_cast<std::uint64_t>(GetParam()));
    const std::vector<std::string> selectors{"", "", "k=x", "k!=x", "k in (x,y)"};
    std::vector<Replica> replicas;
    const auto listed = [&](const std::string& selector) {
        Replica made;
        made.selector = selector;
        const kube::Response list = get(kMaps, {{"labelSelector", selector}});
        for (const json::value& item : list.body->at("items").as_array())
            made.versions[std::string(item.at("metadata").at("name").as_string())] =
                item.at("metadata").at("resourceVersion").as_string();
        made.last = std::stoull(revision(list));
        return made;
    };
    std::vector<Replica> snapshots;
    const auto advance = [&](Replica& replica) {
        for (const Seen& event : events(*replica.stream)) {
            const json::object& meta = metadata_of(*event.object);
            const std::string name(string_at(meta, "name"));
            const std::string version(string_at(meta, "resourceVersion"));
            ASSERT_GT(std::stoull(version), replica.last) << "the revision went back";
            replica.last = std::stoull(version);
            const bool known = replica.versions.contains(name);
            if (event.type == kube::WatchEventType::kAdded)
                ASSERT_FALSE(known) << name << " was added twice";
            else
                ASSERT_TRUE(known) << name << " was not there";
            if (event.type == kube::WatchEventType::kDeleted)
                replica.versions.erase(name);
            else
                replica.versions[name] = version;
        }
    };
    for (int step = 0; step < 300; ++step) {
        const std::string name = "m" + std::to_string(rng.below(8));
        const std::string path = std::string(kMaps) + "/" + name;
        const std::string label(1, static_cast<char>('x' + rng.below(3)));
        switch (rng.below(6)) {
            case 0:
            case 1:
                post(kMaps, map(name, label, std::to_string(step)));
                break;
            case 2:
            case 3:
                merge_patch(
                    path,
                    fmt::format(R"({{"metadata":{{"labels":{{"k":"{}"}}}},"data":{{"v":"{}"}}}})",
                                label, step));
                break;
            case 4:
                remove(path);
                break;
            default:
                snapshots.push_back(listed(selectors[rng.below(selectors.size())]));
                break;
        }
        if (!snapshots.empty() && rng.chance(0.1)) {
            // A watch from a revision of the past, by a client that listed then.
            const std::size_t pick = rng.below(snapshots.size());
            Replica replica = std::move(snapshots[pick]);
            snapshots.erase(snapshots.begin() + static_cast<std::ptrdiff_t>(pick));
            replica.stream = open_watch(kMaps, {{"labelSelector", replica.selector},
                                                {"resourceVersion", std::to_string(replica.last)}});
            replicas.push_back(std::move(replica));
        }
        if (!replicas.empty() && rng.chance(0.2)) advance(replicas[rng.below(replicas.size())]);
    }
    ASSERT_GT(replicas.size(), 3u);
    for (Replica& replica : replicas) {
        advance(replica);
        EXPECT_EQ(replica.versions, listed(replica.selector).versions) << replica.selector;
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomWatchTest, ::testing::Range(0, 12));

}  // namespace
}  // namespace muster::apiserver::watch_test
