#include "rpc/internal/client_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "rpc/internal/failure.h"

namespace muster::rpc::client_calls_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const Instant kStart = Instant() + 1h;

class ClientCallsTest : public ::testing::Test {
  protected:
    std::shared_ptr<PendingCall> begin(Repeat repeat = Repeat::kNever) {
        wire::Call call;
        call.set_id(calls.next_id());
        for (const std::uint64_t id : calls.take_arrived()) call.add_arrived(id);
        auto pending =
            std::make_shared<PendingCall>(context.get_executor(), call, kStart + 10s, repeat);
        calls.add(pending);
        return pending;
    }
    std::shared_ptr<OpenStream> open(std::uint32_t credit) {
        auto stream = std::make_shared<OpenStream>(context.get_executor(), credit);
        calls.add(stream_id = calls.next_id(), stream);
        return stream;
    }
    static wire::Answer answer(std::uint64_t id, const std::string& body) {
        wire::Answer out;
        out.set_id(id);
        out.set_body(body);
        return out;
    }
    static wire::Item item(std::uint64_t id, const std::string& body) {
        wire::Item out;
        out.set_id(id);
        out.set_body(body);
        return out;
    }

    asio::io_context context;
    ClientCalls calls;
    std::uint64_t stream_id = 0;
};

TEST_F(ClientCallsTest, ACallSaysHowLongItStillHas) {
    const auto call = begin();
    const wire::Frame frame = frame_of(*call, "s", kStart + 4s + 1us);
    EXPECT_EQ(frame.call().timeout_ms(), 6000u);
    EXPECT_EQ(call->sent_to, "s");
    EXPECT_EQ(frame_of(*call, "s", kStart + 1h).call().timeout_ms(), 1u) << "none would be 0";
}

TEST_F(ClientCallsTest, WhatHasArrivedIsToldUntilACallThatSaysSoIsAnswered) {
    const auto first = begin();
    frame_of(*first, "s", kStart);
    EXPECT_TRUE(calls.answered(answer(1, "one")));
    EXPECT_EQ(**first->outcome, "one");
    EXPECT_FALSE(calls.remove(1)) << "it has ended";
    const auto second = begin();
    EXPECT_THAT(second->call.arrived(), ElementsAre(1));
    EXPECT_THAT(calls.take_arrived(), IsEmpty());
    frame_of(*second, "s", kStart);
    EXPECT_TRUE(calls.remove(2)) << "given up";
    const auto third = begin();
    EXPECT_THAT(third->call.arrived(), testing::UnorderedElementsAre(1, 2));
    frame_of(*third, "s", kStart);
    EXPECT_TRUE(calls.answered(answer(3, "")));
    calls.remove(3);
    EXPECT_THAT(calls.take_arrived(), ElementsAre(3));
}

TEST_F(ClientCallsTest, WhatWasNeverSentIsNothingToForget) {
    begin();
    EXPECT_FALSE(calls.remove(1));
    EXPECT_THAT(calls.take_arrived(), IsEmpty());
}

TEST_F(ClientCallsTest, AnotherServerGetsOnlyWhatItMayRepeat) {
    const auto unsent = begin();
    const auto never = begin();
    const auto freely = begin(Repeat::kFreely);
    const auto done = begin();
    frame_of(*never, "one", kStart);
    frame_of(*freely, "one", kStart);
    frame_of(*done, "one", kStart);
    EXPECT_TRUE(calls.answered(answer(4, "")));
    EXPECT_THAT(calls.to_send("one"), ElementsAre(unsent, never, freely));
    EXPECT_THAT(calls.to_send("two"), ElementsAre(unsent, freely));
    ASSERT_TRUE(never->outcome);
    EXPECT_EQ(never->outcome->error().code(), Code::kTimeout);
}

TEST_F(ClientCallsTest, AStreamHasItsItemsThenItsEndAndNoMoreThanItsCredit) {
    const auto stream = open(2);
    EXPECT_TRUE(calls.came(item(stream_id, "a")));
    EXPECT_TRUE(calls.came(item(stream_id, "b")));
    EXPECT_FALSE(calls.came(item(stream_id, "c"))) << "more than there is room for";
    EXPECT_THAT(stream->items, ElementsAre("a", "b"));
    wire::Answer end;
    end.set_id(stream_id);
    *end.mutable_failure() = failure_of(Error(Code::kGone, "over"));
    EXPECT_TRUE(calls.answered(end));
    ASSERT_TRUE(stream->end);
    EXPECT_EQ(stream->end->error().code(), Code::kGone);
}

TEST_F(ClientCallsTest, WhatWasNotAskedForIsTheServersMistake) {
    EXPECT_FALSE(calls.answered(answer(1, "")));
    EXPECT_FALSE(calls.answered(answer(0, "")));
    EXPECT_FALSE(calls.came(item(7, "")));
    open(1);
    calls.remove(stream_id);
    EXPECT_TRUE(calls.came(item(stream_id, ""))) << "it was in flight when it was no longer wanted";
    EXPECT_TRUE(calls.answered(answer(stream_id, "")));
}

TEST_F(ClientCallsTest, AConnectionTakesItsStreamsAlongAndTheEndEverything) {
    const auto stream = open(1);
    const auto call = begin();
    calls.lost(Error(Code::kUnavailable, "cut"));
    EXPECT_EQ(stream->end->error().message(), "cut");
    EXPECT_FALSE(call->outcome);
    calls.end(Error(Code::kUnauthorized, "refused"));
    EXPECT_EQ(call->outcome->error().message(), "refused");
}

}  // namespace
}  // namespace muster::rpc::client_calls_test
