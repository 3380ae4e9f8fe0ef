// Lists that are the beginning of the watch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/client/reflector_fixture.h"
#include "kube/objects/api_status.h"

namespace muster::kube::reflector_stream_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(ReflectorTest, AListThatIsStreamedGoesOnAsTheWatch) {
    make({}, Reflector::Lists::kStreamed);
    auto stream = expect_streamed_list("");
    start();
    stream->send(WatchEventType::kAdded, pod("a", "3"));
    stream->send(WatchEventType::kAdded, pod("b", "4"));
    settle();
    EXPECT_THAT(take_seen(), IsEmpty()) << "not before all is there";
    EXPECT_FALSE(reflector->has_synced());
    stream->send(WatchEventType::kBookmark, bookmark("4"));
    settle();
    EXPECT_FALSE(reflector->has_synced()) << "a bookmark like any other";
    stream->send(WatchEventType::kBookmark, end_of_list("5"));
    settle();
    EXPECT_THAT(take_seen(), ElementsAre("list ns/a ns/b"));
    EXPECT_TRUE(reflector->has_synced());
    stream->send(WatchEventType::kModified, pod("a", "6"));
    settle();
    EXPECT_THAT(take_seen(), ElementsAre("upsert ns/a"));
    advance(2s);
    expect_watch("6");
    stream->end();
    settle();
}

TEST_F(ReflectorTest, WhatChangesBeforeAStreamedListIsCompleteIsAsItIsThen) {
    make({}, Reflector::Lists::kStreamed);
    auto stream = expect_streamed_list("");
    start();
    for (const char* name : {"a", "b", "c"}) stream->send(WatchEventType::kAdded, pod(name, "3"));
    stream->send(WatchEventType::kModified, pod("a", "4"));
    stream->send(WatchEventType::kDeleted, pod("b", "5"));
    stream->send(WatchEventType::kDeleted, pod("c", "6"));
    stream->send(WatchEventType::kAdded, pod("c", "7"));
    stream->send(WatchEventType::kBookmark, end_of_list("7"));
    settle();
    EXPECT_THAT(take_seen(), ElementsAre("list ns/a ns/b ns/c ns/a ns/c", "erase ns/b"));
}

class NoStreams : public ReflectorTest, public testing::WithParamInterface<Code> {};

INSTANTIATE_TEST_SUITE_P(All, NoStreams,
                         testing::Values(Code::kInvalid, Code::kBadRequest, Code::kInternal),
                         [](const auto& row) { return std::string(to_string(row.param)); });

TEST_P(NoStreams, AServerIsAskedForPagesFromThenOn) {
    make({}, Reflector::Lists::kStreamed);
    transport.expect_refused_watch(kPods, streamed_query(""),
                                   Error(GetParam(), "sendInitialEvents is forbidden"));
    expect_list("", page("5", {pod("a", "3")}));
    auto watch = expect_watch("5");
    start();
    EXPECT_THAT(take_seen(), ElementsAre("list ns/a"));
    expect_list("5", page("9", {}));
    expect_watch("9");
    watch->send(WatchEventType::kError, status_from_error(expired()));
    advance(4s);
    EXPECT_THAT(take_seen(), ElementsAre("list"));
}

TEST_F(ReflectorTest, AStreamedListThatBreaksIsVoidAndBegunAgain) {
    make({}, Reflector::Lists::kStreamed);
    auto stream = expect_streamed_list("");
    start();
    stream->send(WatchEventType::kAdded, pod("a", "3"));
    auto second = expect_streamed_list("");
    stream->end();
    advance(2s);
    second->send(WatchEventType::kAdded, pod("b", "4"));
    second->send(WatchEventType::kBookmark, end_of_list("4"));
    settle();
    EXPECT_THAT(take_seen(), ElementsAre("list ns/b"));
    auto third = expect_streamed_list("4");
    second->send(WatchEventType::kError, status_from_error(expired()));
    advance(4s);
    third->send(WatchEventType::kBookmark, end_of_list("9"));
    settle();
    EXPECT_THAT(take_seen(), ElementsAre("list"));
}

TEST_F(ReflectorTest, ARefusedStreamIsARefusal) {
    make({}, Reflector::Lists::kStreamed);
    transport.expect_refused_watch(kPods, streamed_query(""),
                                   Error(Code::kForbidden, "pods is forbidden"));
    start();
    ASSERT_NE(reflector->refusal(), nullptr);
    EXPECT_EQ(reflector->refusal()->code(), Code::kForbidden);
}

}  // namespace
}  // namespace muster::kube::reflector_stream_test
