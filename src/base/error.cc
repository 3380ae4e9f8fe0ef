#include "base/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace muster {

std::string_view to_string(Code code) {
    switch (code) {
        case Code::kBadRequest:
            return "BadRequest";
        case Code::kNotFound:
            return "NotFound";
        case Code::kAlreadyExists:
            return "AlreadyExists";
        case Code::kConflict:
            return "Conflict";
        case Code::kGone:
            return "Gone";
        case Code::kInvalid:
            return "Invalid";
        case Code::kUnauthorized:
            return "Unauthorized";
        case Code::kForbidden:
            return "Forbidden";
        case Code::kMethodNotAllowed:
            return "MethodNotAllowed";
        case Code::kUnsupported:
            return "Unsupported";
        case Code::kTooLarge:
            return "TooLarge";
        case Code::kTooManyRequests:
            return "TooManyRequests";
        case Code::kTimeout:
            return "Timeout";
        case Code::kUnavailable:
            return "Unavailable";
        case Code::kCancelled:
            return "Cancelled";
        case Code::kInternal:
            return "Internal";
    }
    return "Internal";
}

Error::Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}
Error::Error(const Error&) = default;
Error::Error(Error&&) noexcept = default;
Error& Error::operator=(const Error&) = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;

Error& Error::with_causes(std::vector<Cause> causes) {
    causes_ = std::move(causes);
    return *this;
}

Error& Error::prefix(std::string_view context) {
    message_ = fmt::format("{}: {}", context, message_);
    return *this;
}

Error system_error(std::string_view what, int errno_value) {
    Code code = Code::kInternal;
    if (errno_value == ENOENT) code = Code::kNotFound;
    if (errno_value == EEXIST) code = Code::kAlreadyExists;
    if (errno_value == EPERM || errno_value == EACCES) code = Code::kForbidden;
    return Error(code, fmt::format("{}: {} (errno {})", what,
                                   std::generic_category().message(errno_value), errno_value));
}

}  // namespace muster
