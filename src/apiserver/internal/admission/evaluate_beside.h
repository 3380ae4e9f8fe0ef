#pragma once

#include <limits>

#include "apiserver/internal/admission/known_rights.h"
#include "apiserver/internal/server_state.h"

namespace muster::apiserver {

/// A result, and whether it counts.
template <class T>
struct Attempt {
    T result;
    bool unfinished = false;
};

/// Carries out `work(cel::Authorizer&, most cost at once)`, which evaluates expressions and returns
/// an Attempt: on the loop if it costs little, else on the side thread, and again as long as it asks
/// for rights. What it refers to outlives the call.
template <class Work>
auto evaluate_beside(ServerState& state, User sender, Work work)
    -> Task<decltype(work(std::declval<cel::Authorizer&>(), std::uint64_t{}).result)> {
    /// About a millisecond.
    constexpr std::uint64_t kOnTheLoop = 10'000;
    KnownRights rights;
    auto attempt = work(rights, kOnTheLoop);
    while (attempt.unfinished) {
        rights.answer_open_questions(state.cache, sender);
        attempt = co_await compute_beside(
            state.options.side_thread, "evaluate expressions about a write", kWorthSideThread,
            [&] { return work(rights, std::numeric_limits<std::uint64_t>::max()); });
    }
    co_return std::move(attempt.result);
}

}  // namespace muster::apiserver
