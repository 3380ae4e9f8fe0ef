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

/// Why a request was not served, and which object the Status names.
struct Refusal {
    Error error;
    /// Unset: the object that the request's URL names.
    std::optional<kube::StatusDetails> details;
    /// The body is the message itself, as for paths that no group version owns.
    bool plain_text = false;
    /// Of an expired list: from where it can go on, inconsistently.
    std::string continue_token;
    /// An answer about no object has `details: {}`: kubectl looks into them without asking.
    bool about_nothing = false;
};

/// A value or a Refusal; takes the Error of a Result as well, so that TRY crosses both.
template <class T>
class [[nodiscard]] Answer : public std::expected<T, Refusal> {
  public:
    using std::expected<T, Refusal>::expected;
    Answer(Refusal refusal)  // NOLINT
        : std::expected<T, Refusal>(std::unexpect, std::move(refusal)) {}
    Answer(Error error)  // NOLINT
        : std::expected<T, Refusal>(std::unexpect, Refusal{std::move(error), {}, false, {}}) {}
};

template <>
class [[nodiscard]] Answer<void> : public std::expected<void, Refusal> {
  public:
    using std::expected<void, Refusal>::expected;
    Answer(Refusal refusal)  // NOLINT
        : std::expected<void, Refusal>(std::unexpect, std::move(refusal)) {}
    Answer(Error error)  // NOLINT
        : std::expected<void, Refusal>(std::unexpect, Refusal{std::move(error), {}, false, {}}) {}
};

// The refusals of a real server, with its wording.

Refusal bad_request(std::string message);
Refusal not_found(const kube::ResourceType& type, std::string_view name);
Refusal already_exists(const kube::ResourceType& type, std::string_view name);
/// "object is being deleted: ... already exists".
Refusal exists_terminating(const kube::ResourceType& type, std::string_view name);
Refusal conflict(const kube::ResourceType& type, std::string_view name, std::string_view why);
Refusal stale_write(const kube::ResourceType& type, std::string_view name);
/// `name` may be empty.
Refusal forbidden(const kube::ResourceType& type, std::string_view name, std::string_view why);
Refusal invalid(std::string_view kind, std::string_view group, std::string_view name,
                std::vector<Cause> causes);
Refusal invalid(const kube::ResourceType& type, std::string_view name, std::vector<Cause> causes);
/// Wrong query parameters or DeleteOptions; `options_kind` is "ListOptions", ...
Refusal invalid_options(std::string_view options_kind, std::vector<Cause> causes);
Refusal method_not_allowed();
Refusal unknown_resource();
Refusal unknown_path();
Refusal unsupported_media_type(std::string message);
Refusal internal_error(std::string message);
/// 410 Expired.
Refusal expired(std::string message);
/// 504 for a revision that does not exist yet.
Refusal revision_too_large(std::uint64_t wanted, std::uint64_t current);

/// `field: message`, as messages of 422 list causes.
std::string describe(const Cause& cause);

kube::Response to_response(const Refusal& refusal, const kube::ResourceType* type,
                           std::string_view name);

}  // namespace muster::apiserver
