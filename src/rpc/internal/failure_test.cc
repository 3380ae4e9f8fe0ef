#include "rpc/internal/failure.h"

#include <gtest/gtest.h>

namespace muster::rpc::failure_test {
namespace {

using namespace std::chrono_literals;

TEST(Failure, ArrivesAsItWasSent) {
    for (Code code :
         {Code::kBadRequest, Code::kNotFound, Code::kAlreadyExists, Code::kConflict, Code::kGone,
          Code::kInvalid, Code::kUnauthorized, Code::kForbidden, Code::kMethodNotAllowed,
          Code::kUnsupported, Code::kTooLarge, Code::kTooManyRequests, Code::kTimeout,
          Code::kUnavailable, Code::kCancelled, Code::kInternal}) {
        Error sent(code, "what failed");
        sent.with_causes({{"FieldValueInvalid", "must be positive", "spec.min"}});
        sent.with_retry_after(1500ms);
        const Error read = error_of(failure_of(sent));
        EXPECT_EQ(read.code(), code) << to_string(code);
        EXPECT_EQ(read.message(), "what failed");
        EXPECT_EQ(read.causes(), sent.causes());
        EXPECT_EQ(read.retry_after(), 1500ms);
    }
    EXPECT_EQ(error_of(failure_of(Error(Code::kGone, ""))).retry_after(), std::nullopt);
}

TEST(Failure, OfAKindThatIsNotKnownKeepsItsMessage) {
    wire::Failure newer;
    newer.set_code("Embarrassed");
    newer.set_message("it blushed");
    EXPECT_EQ(error_of(newer).code(), Code::kInternal);
    EXPECT_EQ(error_of(newer).message(), "it blushed");
}

TEST(Failure, WaitsForADayAtMost) {
    wire::Failure absurd;
    absurd.set_retry_after_ms(UINT64_MAX);
    EXPECT_EQ(error_of(absurd).retry_after(), 24h);
}

}  // namespace
}  // namespace muster::rpc::failure_test
