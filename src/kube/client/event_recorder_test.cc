#include "kube/client/event_recorder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json/parse.hpp>
#include <set>

#include "base/async/task_fault.h"
#include "base/log.h"
#include "base/test_loop.h"
#include "kube/internal/client/event_correlator.h"
#include "kube/transport/fake_transport.h"

namespace muster::kube::event_recorder_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using Action = EventWrite::Action;

ObjectReference job(std::string name = "j") {
    ObjectReference about;
    about.api_version = "kubeflow.org/v1";
    about.kind = "PyTorchJob";
    about.namespace_ = "ns";
    about.name = std::move(name);
    about.uid = "u-" + about.name;
    return about;
}

// --- the decision

class CorrelatorTest : public ::testing::Test {
  protected:
    EventWrite observe(std::string message, ObjectReference about = job(), std::string reason = "R",
                       std::string type = "Normal") {
        return correlator.observe(
            {std::move(about), std::move(type), std::move(reason), std::move(message), now, wall});
    }
    void pass(Duration time) {
        now += time;
        wall += time;
    }

    EventCorrelator correlator;
    Instant now{};
    WallTime wall{std::chrono::seconds(1'700'000'000)};
};

TEST_F(CorrelatorTest, EqualEventsRaiseACount) {
    const EventWrite first = observe("m");
    EXPECT_EQ(first.action, Action::kCreate);
    EXPECT_EQ(first.count, 1);
    EXPECT_EQ(first.name, "j.17979cfe362a0000");
    pass(5s);
    const EventWrite second = observe("m");
    EXPECT_EQ(second.action, Action::kRaiseCount);
    EXPECT_EQ(second.count, 2);
    EXPECT_EQ(second.name, first.name);
    EXPECT_EQ(second.first, first.first);
    EXPECT_EQ(second.last, first.first + 5s);
    EXPECT_EQ(observe("m").count, 3);
}

TEST_F(CorrelatorTest, WhateverDiffersIsAnEventOfItsOwn) {
    ObjectReference field = job();
    field.field_path = "spec.containers{main}";
    ObjectReference reborn = job();
    reborn.uid = "other";
    std::set<std::string> names;
    for (const EventWrite& write :
         {observe("m"), observe("n"), observe("m", job("k")), observe("m", job(), "S"),
          observe("m", job(), "R", "Warning"), observe("m", field), observe("m", reborn)}) {
        EXPECT_EQ(write.action, Action::kCreate);
        names.insert(write.name);
    }
    EXPECT_EQ(names.size(), 7u) << "unique though the clock stands still";
}

TEST_F(CorrelatorTest, NamesStayUniqueWhenTheCalendarGoesBack) {
    std::set<std::string> names{observe("a").name};
    wall -= 1h;
    names.insert(observe("b").name);
    names.insert(observe("c").name);
    EXPECT_EQ(names.size(), 3u);
}

TEST_F(CorrelatorTest, LongNamesFitTheLimitOfNames) {
    EXPECT_LE(observe("m", job(std::string(253, 'x'))).name.size(), 253u);
}

TEST_F(CorrelatorTest, TenSimilarMessagesAreFolded) {
    for (int i = 1; i <= 9; ++i) {
        const EventWrite write = observe(fmt::format("m{}", i));
        EXPECT_EQ(write.action, Action::kCreate);
        EXPECT_EQ(write.message, fmt::format("m{}", i));
    }
    const EventWrite tenth = observe("m10");
    EXPECT_EQ(tenth.action, Action::kCreate);
    EXPECT_EQ(tenth.message, "(combined from similar events): m10");
    pass(1s);
    const EventWrite next = observe("m11");
    EXPECT_EQ(next.action, Action::kRaiseCount);
    EXPECT_EQ(next.count, 2);
    EXPECT_EQ(next.name, tenth.name);
    EXPECT_EQ(next.message, "(combined from similar events): m11");
    // Another reason, or another object, is not similar.
    EXPECT_EQ(observe("m12", job(), "S").message, "m12");
    EXPECT_EQ(observe("m12", job("k")).message, "m12");
}

TEST_F(CorrelatorTest, TheSameMessageAgainIsNotSimilarToItself) {
    for (int i = 0; i < 15; ++i) EXPECT_EQ(observe("m").message, "m");
}

TEST_F(CorrelatorTest, FoldingEndsAfterAQuietWindow) {
    for (int i = 0; i < 12; ++i) observe(fmt::format("m{}", i));
    pass(600s);
    EXPECT_THAT(observe("n").message, ::testing::StartsWith("(combined"));
    pass(601s);
    EXPECT_EQ(observe("o").message, "o");
}

TEST_F(CorrelatorTest, WhatComesBackAfterAQuietWindowIsAnEventOfItsOwn) {
    const EventWrite first = observe("m");
    pass(600s);
    EXPECT_EQ(observe("m").count, 2);
    pass(601s);
    const EventWrite later = observe("m");
    EXPECT_EQ(later.action, Action::kCreate);
    EXPECT_EQ(later.count, 1);
    EXPECT_NE(later.name, first.name);
}

TEST_F(CorrelatorTest, AFloodAboutOneObjectIsDroppedBeyondTheBurst) {
    for (int i = 0; i < 25; ++i) EXPECT_NE(observe("m").action, Action::kDrop) << i;
    EXPECT_EQ(observe("m").action, Action::kDrop);
    EXPECT_EQ(observe("m", job(), "S").action, Action::kDrop) << "whatever it says";
    EXPECT_EQ(observe("m", job("k")).action, Action::kCreate) << "others are not touched";
    pass(299s);
    EXPECT_EQ(observe("m").action, Action::kDrop);
    pass(1s);
    const EventWrite refilled = observe("m");
    EXPECT_EQ(refilled.action, Action::kRaiseCount);
    EXPECT_EQ(refilled.count, 28) << "what was dropped still counts";
    EXPECT_EQ(observe("m").action, Action::kDrop);
    pass(24h);
    int written = 0;
    for (int i = 0; i < 100; ++i) written += observe("m").action != Action::kDrop;
    EXPECT_EQ(written, 25);
}

TEST_F(CorrelatorTest, ADroppedFirstIsRaisedLaterAndTheRecorderCreatesIt) {
    for (int i = 0; i < 25; ++i) observe("m");
    EXPECT_EQ(observe("new").action, Action::kDrop);
    pass(300s);
    EXPECT_EQ(observe("new").action, Action::kRaiseCount);
}

Fingerprint key(std::string_view text) { return Fingerprint().with(text); }

TEST(Fingerprint, TellsSequencesOfTextsApart) {
    const std::vector<std::vector<std::string>> sequences = {
        {},
        {""},
        {"", ""},
        {"ab"},
        {"a", "b"},
        {"b", "a"},
        {"ab", ""},
        {"", "ab"},
        {std::string("ab\0", 3)},
        {"twelve bytes", "and more"},
        {"twelve bytesand", " more"},
        {std::string(8, 'x')},
        {std::string(16, 'x')},
        {std::string(8, 'x'), std::string(8, 'x')}};
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    for (const auto& sequence : sequences) {
        Fingerprint of;
        for (const std::string& text : sequence) of = of.with(text);
        seen.emplace(of.high, of.low);
    }
    EXPECT_EQ(seen.size(), sequences.size());
    EXPECT_EQ(key("a").with("b"), key("a").with("b"));
}

TEST(BoundedMap, ForgetsWhatWasLongestUnused) {
    BoundedMap<int> map(2, 1h);
    const Instant now{};
    map.at(key("a"), now) = 1;
    map.at(key("b"), now) = 2;
    EXPECT_EQ(map.at(key("a"), now), 1);
    map.at(key("c"), now) = 3;
    EXPECT_EQ(map.size(), 2u);
    EXPECT_EQ(map.at(key("a"), now), 1);
    EXPECT_EQ(map.at(key("b"), now), 0) << "made anew";
}

TEST(BoundedMap, ForgetsWhatWasUnusedForLongAndTakesItsPlace) {
    BoundedMap<int> map(100, 10s);
    Instant now{};
    map.at(key("a"), now) = 1;
    map.at(key("b"), now) = 2;
    now += 10s;
    EXPECT_EQ(map.at(key("b"), now), 2);
    map.at(key("c"), now) = 3;
    EXPECT_EQ(map.size(), 3u) << "nothing is too old yet";
    now += 1s;
    map.at(key("d"), now) = 4;
    EXPECT_EQ(map.size(), 3u) << "in the place of a";
    EXPECT_EQ(map.at(key("b"), now), 2);
    now += 11s;
    EXPECT_EQ(map.at(key("d"), now), 0) << "its time was over";
}

// --- the shell

constexpr const char* kEvents = "/api/v1/namespaces/ns/events";

class RecorderTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    ~RecorderTest() override {
        stop();
        EXPECT_TRUE(transport.finished());
    }
    void stop() {
        const Instant before = clock.now();
        await(tasks.stop());
        EXPECT_EQ(clock.now(), before) << "stopping waits for no timer";
    }
    void expect_create(Result<Response> answer = json_response(json::object(), 201)) {
        transport.expect(Method::kPost, kEvents, {}, std::move(answer));
    }
    void expect_patch(std::string name, Result<Response> answer = json_response(json::object())) {
        transport.expect(Method::kPatch, std::string(kEvents) + "/" + std::move(name), {},
                         std::move(answer));
    }
    void record(std::string message = "m", ObjectReference about = job()) {
        recorder.record(about, EventType::kWarning, "R", std::move(message));
    }

    Rng rng{1};
    TaskGroup tasks{context.get_executor()};
    FakeTransport transport{context.get_executor()};
    Client client{transport};
    EventRecorder recorder{client, clock, rng, tasks, "pytorchjob-controller", "host"};
};

TEST_F(RecorderTest, WritesTheWholeEvent) {
    expect_create();
    record();
    settle();
    ASSERT_EQ(transport.requests().size(), 1u);
    EXPECT_EQ(*transport.requests()[0].body, json::parse(R"({
        "apiVersion":"v1","kind":"Event",
        "metadata":{"name":"j.17979cfe362a0000","namespace":"ns"},
        "involvedObject":{"kind":"PyTorchJob","namespace":"ns","name":"j","uid":"u-j",
                          "apiVersion":"kubeflow.org/v1"},
        "reason":"R","message":"m","type":"Warning",
        "source":{"component":"pytorchjob-controller","host":"host"},
        "firstTimestamp":"2023-11-14T22:13:20Z","lastTimestamp":"2023-11-14T22:13:20Z",
        "count":1,"eventTime":null,
        "reportingComponent":"pytorchjob-controller","reportingInstance":"host"})"));
}

TEST_F(RecorderTest, AnObjectWithoutANamespaceHasItsEventsInDefault) {
    transport.expect(Method::kPost, "/api/v1/namespaces/default/events", {},
                     json_response(json::object(), 201));
    ObjectReference node;
    node.kind = "Node";
    node.name = "n";
    recorder.record(node, EventType::kNormal, "R", "m");
    settle();
}

TEST_F(RecorderTest, ARepeatIsAPatchOfTheCount) {
    expect_create();
    expect_patch("j.17979cfe362a0000");
    record();
    settle();
    advance(5s);
    record();
    settle();
    const Request& patch = transport.requests().at(1);
    EXPECT_EQ(patch.content_type, ContentType::kStrategicMergePatch);
    EXPECT_EQ(*patch.body,
              json::parse(R"({"count":2,"lastTimestamp":"2023-11-14T22:13:25Z","message":"m"})"));
}

TEST_F(RecorderTest, AnEventThatExpiredIsCreatedAnew) {
    expect_create();
    expect_patch("j.17979cfe362a0000", status_response(Error(Code::kNotFound, "gone")));
    expect_create();
    record();
    record();
    settle();
    EXPECT_EQ(transport.requests().at(2).body->at("count").as_int64(), 2);
}

TEST_F(RecorderTest, ARefusalIsFinal) {
    expect_create(status_response(Error(Code::kForbidden, "namespace is terminating")));
    record();
    advance(10min);
    EXPECT_EQ(transport.requests().size(), 1u);
    EXPECT_EQ(tasks.size(), 0u);
}

TEST_F(RecorderTest, AnAbsentServerIsTriedTwelveTimesInOrder) {
    for (int i = 0; i < 12; ++i) expect_create(Error(Code::kUnavailable, "down"));
    expect_create();
    record("one");
    record("two");
    advance(5min);
    ASSERT_EQ(transport.requests().size(), 13u);
    for (int i = 0; i < 12; ++i)
        EXPECT_EQ(transport.requests()[static_cast<std::size_t>(i)].body->at("message"), "one");
    EXPECT_EQ(transport.requests()[12].body->at("message"), "two");
    EXPECT_EQ(tasks.size(), 0u);
}

TEST_F(RecorderTest, ACreateWhoseAnswerWasLostIsNotWrittenTwice) {
    expect_create(Error(Code::kTimeout, "no answer"));
    expect_create(status_response(Error(Code::kAlreadyExists, "events \"x\" already exists")));
    record();
    advance(1min);
    EXPECT_EQ(transport.requests()[0].body->at("metadata"),
              transport.requests()[1].body->at("metadata"));
    EXPECT_EQ(tasks.size(), 0u);
}

TEST_F(RecorderTest, AFaultLosesNoEventThatWaits) {
    {
        const TaskFault fault("event recorder");
        record("one");
        settle();
        EXPECT_EQ(fault.hits(), 1u);
        EXPECT_TRUE(transport.requests().empty());
    }
    expect_create();
    expect_create();
    record("two");  // which begins no second sender
    await(recorder.flush());
    ASSERT_EQ(transport.requests().size(), 2u);
    EXPECT_EQ(transport.requests()[0].body->at("message"), "one");
}

TEST_F(RecorderTest, TheNewestIsDroppedWhenTheQueueIsFull) {
    transport.expect_hanging(Method::kPost, kEvents, {});
    record("held");
    settle();
    std::vector<std::string> lines;
    log::set_sink([&](log::Level, std::string_view line) { lines.emplace_back(line); });
    for (int i = 0; i < 1200; ++i) record(fmt::format("m{}", i), job(fmt::format("j{}", i)));
    log::set_sink({});
    ASSERT_EQ(lines.size(), 1u) << "one line for the flood";
    EXPECT_THAT(lines[0], ::testing::HasSubstr("m1000"));
    EXPECT_THAT(lines[0], ::testing::HasSubstr("queue full"));
}

TEST_F(RecorderTest, AFloodAboutOneObjectTakesNoRoomFromOthers) {
    transport.expect_hanging(Method::kPost, kEvents, {});
    record("held");
    settle();
    std::vector<std::string> lines;
    log::set_sink([&](log::Level level, std::string_view line) {
        if (level != log::Level::kDebug) lines.emplace_back(line);
    });
    for (int i = 0; i < 2000; ++i) record(fmt::format("m{}", i));
    for (int i = 0; i < 900; ++i) record("m", job(fmt::format("j{}", i)));
    log::set_sink({});
    EXPECT_TRUE(lines.empty()) << lines[0];
}

TEST_F(RecorderTest, FlushReturnsWhenAllIsWrittenOrGivenUp) {
    bool flushed = false;
    auto flush = [](EventRecorder& r, bool& flag) -> Task<void> {
        co_await r.flush();
        flag = true;
    };
    asio::co_spawn(context, flush(recorder, flushed), asio::detached);
    settle();
    EXPECT_TRUE(flushed) << "nothing was recorded";

    flushed = false;
    expect_create(Error(Code::kUnavailable, "down"));
    expect_create();
    expect_create(status_response(Error(Code::kForbidden, "no")));
    record("one");
    record("two");
    asio::co_spawn(context, flush(recorder, flushed), asio::detached);
    settle();
    EXPECT_FALSE(flushed);
    advance(10s);
    EXPECT_TRUE(flushed);
}

TEST_F(RecorderTest, FlushReturnsWhenTheGroupStops) {
    bool flushed = false;
    auto flush = [](EventRecorder& r, bool& flag) -> Task<void> {
        co_await r.flush();
        flag = true;
    };
    transport.expect_hanging(Method::kPost, kEvents, {});
    record();
    settle();
    asio::co_spawn(context, flush(recorder, flushed), asio::detached);
    settle();
    EXPECT_FALSE(flushed);
    stop();
    EXPECT_TRUE(flushed);
    record();  // dropped, with a line in the log
    EXPECT_EQ(tasks.size(), 0u);
}

}  // namespace
}  // namespace muster::kube::event_recorder_test
