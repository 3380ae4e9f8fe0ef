#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/time/clock.h"

namespace muster::run {

/// When a node may host the job's master because no master answers. Endpoints take over in their
/// order: the machine of the first one at once, since the master that was there has ended; each one
/// behind it when those before it have had their time. Pure: the caller says what time it is.
class TakeoverTurn {
  public:
    /// `candidates`: the endpoints that this node may host a master at, by their place in the list,
    /// the first one first. `each`: the time that an endpoint has before it is the next one's turn.
    TakeoverTurn(std::vector<std::size_t> candidates, Duration each)
        : candidates_(std::move(candidates)), each_(each) {}

    /// A master answers, or this node hosts it: the next silence counts from its own beginning.
    void master_answers() { silent_since_.reset(); }
    /// No master answers now. The endpoint to host one at; nullopt: it is not this node's turn.
    std::optional<std::size_t> no_master_answers(Instant now);

    /// What this node may host is known better.
    void has_candidates(std::vector<std::size_t> candidates) {
        candidates_ = std::move(candidates);
    }
    const std::vector<std::size_t>& candidates() const { return candidates_; }

  private:
    std::vector<std::size_t> candidates_;
    Duration each_;
    std::optional<Instant> silent_since_;
};

}  // namespace muster::run
