#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace muster::rpc {

/// What became of the calls of one life of one client, so that a call that comes again over a new
/// connection has no second effect: it finds the answer of the first, or waits for it. Answers are
/// kept until the client says that they have arrived. Pure.
class KeptAnswers {
  public:
    enum class Seen {
        kNew,       ///< it is to be run
        kRunning,   ///< its answer will come
        kAnswered,  ///< answer() has it
        kTooMany,   ///< the client has more under way than it may have; nothing was noted
    };

    /// `most`: calls that run or whose answers are kept.
    explicit KeptAnswers(std::size_t most) : most_(most) {}

    /// The client has the answer to that call, or wants none, and does not send the call again.
    void forget(std::uint64_t id) { calls_.erase(id); }
    /// A call arrives.
    Seen begin(std::uint64_t id);
    /// It has run. False when nobody wants the answer any more.
    bool end(std::uint64_t id, std::string answer);
    const std::string& answer(std::uint64_t id) const;
    /// Runs that have not ended.
    std::size_t running() const { return running_; }
    std::size_t size() const { return calls_.size(); }

  private:
    std::size_t most_;
    std::size_t running_ = 0;
    std::map<std::uint64_t, std::optional<std::string>> calls_;  ///< without an answer: it runs
};

}  // namespace muster::rpc
