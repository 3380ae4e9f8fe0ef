#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// The kind of a failure. The set mirrors the `reason` of a Kubernetes Status; a code exists only
/// if some caller acts on it, and everything else is in the message.
enum class Code {
    kBadRequest,  ///< the request can't be understood
    kNotFound,
    kAlreadyExists,
    kConflict,  ///< optimistic concurrency lost: read again and retry
    kGone,      ///< the revision asked for is too old: list again
    kInvalid,   ///< understood but refused; `causes` name the fields
    kUnauthorized,
    kForbidden,
    kMethodNotAllowed,
    kUnsupported,  ///< media type or feature that is not served
    kTooLarge,
    kTooManyRequests,  ///< retry after `retry_after`
    kTimeout,
    kUnavailable,  ///< the other side can't be reached; the request had no effect
    kCancelled,    ///< our own stop; never swallowed, never logged as an error
    kInternal,
};

std::string_view to_string(Code code);

/// One field with an error. `reason` is a Kubernetes cause reason (`FieldValueRequired`, ...).
struct Cause {
    std::string reason;
    std::string message;
    std::string field;

    friend bool operator==(const Cause&, const Cause&) = default;
};

/// A failure as a value. Messages are for people: what failed, where, why, what to do.
class Error {
  public:
    Error(Code code, std::string message);
    // Defined once: almost every file returns a Result, and would compile them again.
    Error(const Error&);
    Error(Error&&) noexcept;
    Error& operator=(const Error&);
    Error& operator=(Error&&) noexcept;
    ~Error();

    Code code() const { return code_; }
    const std::string& message() const { return message_; }
    const std::vector<Cause>& causes() const { return causes_; }
    std::optional<std::chrono::milliseconds> retry_after() const { return retry_after_; }

    Error& with_causes(std::vector<Cause> causes);
    Error& with_retry_after(std::chrono::milliseconds delay) {
        retry_after_ = delay;
        return *this;
    }
    /// Prepends context to the message: "reading config.yaml: no such file".
    Error& prefix(std::string_view context);

    /// True for outcomes of normal work, which are not logged as errors.
    bool is_expected() const {
        return code_ == Code::kConflict || code_ == Code::kGone || code_ == Code::kCancelled;
    }

  private:
    Code code_;
    std::string message_;
    std::vector<Cause> causes_;
    std::optional<std::chrono::milliseconds> retry_after_;
};

/// The error for a failed system call: "open /x: No such file or directory (errno 2)".
Error system_error(std::string_view what, int errno_value);

}  // namespace muster
