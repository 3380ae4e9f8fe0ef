#include "rpc/internal/failure.h"

#include <algorithm>
#include <array>

namespace muster::rpc {
namespace {

constexpr std::array kCodes = {
    Code::kBadRequest,  Code::kNotFound,    Code::kAlreadyExists,    Code::kConflict,
    Code::kGone,        Code::kInvalid,     Code::kUnauthorized,     Code::kForbidden,
    Code::kUnsupported, Code::kTooLarge,    Code::kMethodNotAllowed, Code::kTooManyRequests,
    Code::kTimeout,     Code::kUnavailable, Code::kCancelled,        Code::kInternal,
};

/// No sensible delay is over a day, and the limit keeps callers' arithmetic in range.
constexpr std::uint64_t kLongestRetryMs = 86'400'000;

}  // namespace

wire::Failure failure_of(const Error& error) {
    wire::Failure failure;
    failure.set_code(std::string(to_string(error.code())));
    failure.set_message(error.message());
    for (const Cause& cause : error.causes()) {
        wire::FieldCause& out = *failure.add_causes();
        out.set_reason(cause.reason);
        out.set_message(cause.message);
        out.set_field(cause.field);
    }
    if (error.retry_after())
        failure.set_retry_after_ms(
            static_cast<std::uint64_t>(std::max<std::int64_t>(error.retry_after()->count(), 0)));
    return failure;
}

Error error_of(const wire::Failure& failure) {
    const auto* const known = std::ranges::find(kCodes, failure.code(), &to_string);
    Error error(known == kCodes.end() ? Code::kInternal : *known, failure.message());
    std::vector<Cause> causes;
    for (const wire::FieldCause& cause : failure.causes())
        causes.push_back({cause.reason(), cause.message(), cause.field()});
    error.with_causes(std::move(causes));
    if (failure.retry_after_ms() > 0)
        error.with_retry_after(
            std::chrono::milliseconds(std::min(failure.retry_after_ms(), kLongestRetryMs)));
    return error;
}

}  // namespace muster::rpc
