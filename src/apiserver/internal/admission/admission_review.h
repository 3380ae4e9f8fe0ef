#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/internal/admission/write_selection.h"
#include "apiserver/requests/status_error.h"
#include "apiserver/requests/user.h"

namespace muster::apiserver {

/// The content of a review request. Objects are in the version that the webhook wants.
struct ReviewQuestion {
    std::string uid;  ///< of this question
    Operation operation = Operation::kCreate;
    kube::ResourceType type;       ///< in the version that the webhook wants
    kube::ResourceType requested;  ///< in that of the request
    std::string subresource;
    std::string namespace_;
    std::string name;
    User user;
    bool dry_run = false;
    const json::value* object = nullptr;  ///< null: of a deletion
    const json::value* before = nullptr;  ///< null: of a creation
};

/// The AdmissionRequest, without its uid and the objects.
json::object admission_request(const ReviewQuestion& question);
/// The AdmissionReview as JSON.
std::string review_text(const ReviewQuestion& question, std::string_view review_version);

/// The answer of a webhook.
struct ReviewVerdict {
    std::optional<json::value> patch;  ///< a JSON patch
    bool patch_is_no_json = false;
    std::vector<std::string> warnings;
    /// Set if it refuses, with the message for the client.
    std::optional<StatusError> denial;
};

/// An answer to the question of `uid`, asked in `review_version`. The error says, for people and in
/// upstream's words, what is wrong with an invalid answer. A webhook that only validates may not
/// patch.
Result<ReviewVerdict> read_review(std::string_view text, std::string_view webhook,
                                  const ReviewQuestion& question, std::string_view review_version,
                                  bool may_patch);

}  // namespace muster::apiserver
