#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/objects/api_status.h"
#include "kube/objects/resource_type.h"
#include "kube/transport/transport.h"

namespace muster::apiserver {

/// Why a request was not served, and the object that its Status names; Kubernetes calls it
/// StatusError.
struct StatusError {
    Error error;
    /// Unset: the object of the request's URL.
    std::optional<kube::StatusDetails> details;
    /// The body is the message itself, as for paths that no group version owns.
    bool plain_text = false;
    /// Of an expired list: where it can continue, inconsistently.
    std::string continue_token;
    /// An answer about no object has `details: {}`: kubectl reads them without a check.
    bool about_nothing = false;
};

/// A value or a StatusError. Accepts the Error of a Result as well, so that TRY works with both.
template <class T>
class [[nodiscard]] StatusResult : public std::expected<T, StatusError> {
  public:
    using std::expected<T, StatusError>::expected;
    StatusResult(StatusError error)  // NOLINT
        : std::expected<T, StatusError>(std::unexpect, std::move(error)) {}
    StatusResult(Error error)  // NOLINT
        : std::expected<T, StatusError>(std::unexpect,
                                        StatusError{std::move(error), {}, false, {}}) {}
};

template <>
class [[nodiscard]] StatusResult<void> : public std::expected<void, StatusError> {
  public:
    using std::expected<void, StatusError>::expected;
    StatusResult(StatusError error)  // NOLINT
        : std::expected<void, StatusError>(std::unexpect, std::move(error)) {}
    StatusResult(Error error)  // NOLINT
        : std::expected<void, StatusError>(std::unexpect,
                                           StatusError{std::move(error), {}, false, {}}) {}
};

// The errors of a real server, in its words.

StatusError bad_request(std::string message);
StatusError not_found(const kube::ResourceType& type, std::string_view name);
StatusError already_exists(const kube::ResourceType& type, std::string_view name);
/// "object is being deleted: ... already exists".
StatusError exists_terminating(const kube::ResourceType& type, std::string_view name);
StatusError conflict(const kube::ResourceType& type, std::string_view name, std::string_view why);
StatusError stale_write(const kube::ResourceType& type, std::string_view name);
/// `name` may be empty.
StatusError forbidden(const kube::ResourceType& type, std::string_view name, std::string_view why);
StatusError invalid(std::string_view kind, std::string_view group, std::string_view name,
                    std::vector<Cause> field_errors);
StatusError invalid(const kube::ResourceType& type, std::string_view name,
                    std::vector<Cause> field_errors);
/// Wrong query parameters or DeleteOptions; `options_kind` is "ListOptions", ...
StatusError invalid_options(std::string_view options_kind, std::vector<Cause> field_errors);
StatusError method_not_allowed();
StatusError unknown_resource();
StatusError unknown_path();
StatusError unsupported_media_type(std::string message);
StatusError internal_error(std::string message);
/// 503: something that the answer needs is not there now.
StatusError unavailable(std::string message);
/// 410 Expired.
StatusError expired(std::string message);
/// 504 for a revision that does not exist yet.
StatusError revision_too_large(std::uint64_t wanted, std::uint64_t current);

/// `field: message`, the form in which messages of 422 list causes.
std::string describe(const Cause& cause);

kube::Response to_response(const StatusError& status_error, const kube::ResourceType* type,
                           std::string_view name);

}  // namespace muster::apiserver
