#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace muster::result_test {
namespace {

Result<int> half(int value) {
    if (value % 2 != 0) return Error(Code::kInvalid, "odd");
    return value / 2;
}

Result<int> quarter(int value) {
    TRY(const int once, half(value));
    TRY(const int twice, half(once));
    return twice;
}

Result<void> check_even(int value) {
    TRY_VOID(half(value));
    return {};
}

TEST(ResultTest, TryPassesValuesOnAndReturnsTheFirstError) {
    EXPECT_EQ(quarter(8).value(), 2);
    const Result<int> failed = quarter(6);
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code(), Code::kInvalid);
    EXPECT_EQ(failed.error().message(), "odd");
    EXPECT_TRUE(check_even(2).has_value());
    EXPECT_FALSE(check_even(3).has_value());
}

TEST(ErrorTest, KeepsCausesAndRetryAfterWhenItsMessageGetsAContext) {
    Error error(Code::kTooManyRequests, "slow down");
    error.with_causes({{"FieldValueInvalid", "bad", "spec.a"}})
        .with_retry_after(std::chrono::milliseconds(250))
        .prefix("creating pod x");
    EXPECT_EQ(error.message(), "creating pod x: slow down");
    EXPECT_EQ(error.causes().size(), 1u);
    EXPECT_EQ(error.retry_after(), std::chrono::milliseconds(250));
}

TEST(ErrorTest, OnlyOutcomesOfNormalWorkAreExpected) {
    EXPECT_TRUE(Error(Code::kConflict, "").is_expected());
    EXPECT_TRUE(Error(Code::kGone, "").is_expected());
    EXPECT_TRUE(Error(Code::kCancelled, "").is_expected());
    EXPECT_FALSE(Error(Code::kNotFound, "").is_expected());
    EXPECT_FALSE(Error(Code::kInternal, "").is_expected());
}

TEST(ErrorTest, SystemErrorsKeepTheirMeaning) {
    EXPECT_EQ(system_error("open", ENOENT).code(), Code::kNotFound);
    EXPECT_EQ(system_error("open", EACCES).code(), Code::kForbidden);
    EXPECT_EQ(system_error("open", EEXIST).code(), Code::kAlreadyExists);
    const Error other = system_error("read /dev/x", EIO);
    EXPECT_EQ(other.code(), Code::kInternal);
    EXPECT_NE(other.message().find("read /dev/x: "), std::string::npos);
    EXPECT_NE(other.message().find("errno 5"), std::string::npos);
}

}  // namespace
}  // namespace muster::result_test
