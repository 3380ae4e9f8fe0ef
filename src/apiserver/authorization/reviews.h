#pragma once

#include <functional>

#include "apiserver/authentication/token_authentication.h"
#include "apiserver/requests/decoding.h"
#include "apiserver/requests/router.h"

namespace muster::apiserver {

/// The data from which a review is answered.
struct ReviewContext {
    const WatchCache& cache;
    const User& user;  ///< the one that asks
    /// The owner of a token, if it is meant for one of the audiences.
    std::function<Result<TokenOwner>(const std::string& token,
                                     const std::vector<std::string>& audiences)>
        owner_of;
    bool everything_allowed = false;  ///< whatever roles say
};

/// Answers a review of authorization.k8s.io or authentication.k8s.io: the object that was sent,
/// with the answer as its status. `asked` was decoded as the target's kind.
StatusResult<json::object> answer_review(const ReviewContext& context, const Target& target,
                                         const DecodedObject& asked);

}  // namespace muster::apiserver
