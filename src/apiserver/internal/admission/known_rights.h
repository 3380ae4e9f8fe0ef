#pragma once

#include <map>
#include <set>

#include "apiserver/requests/user.h"
#include "apiserver/watching/watch_cache.h"
#include "cel/authorizer.h"

namespace muster::apiserver {

/// What is known of the rights about which expressions ask. Roles are read on the server's loop
/// alone, while expressions may be evaluated beside it: what they ask is answered afterwards, and
/// they are evaluated again.
class KnownRights final : public cel::Authorizer {
  public:
    std::optional<cel::AuthorizationAnswer> answer(
        const cel::AuthorizationQuestion& question) override;

    /// On the server's loop. `sender`: of the request.
    void answer_open_questions(const WatchCache& cache, const User& sender);

  private:
    std::map<cel::AuthorizationQuestion, cel::AuthorizationAnswer> answers_;
    std::set<cel::AuthorizationQuestion> open_;
};

}  // namespace muster::apiserver
