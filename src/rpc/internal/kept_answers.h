#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace muster::rpc {

/// The calls of one client and their answers, so that a call repeated over a new connection has no
/// second effect: it gets the answer of the first run, or waits for it. Answers are kept until the
/// client says that it has them. Pure.
class KeptAnswers {
  public:
    enum class Seen {
        kNew,       ///< run it
        kRunning,   ///< it is running; its answer will come
        kAnswered,  ///< answer() has it
        kTooMany,   ///< the client has too many calls; this one was not recorded
    };

    /// `most`: calls that are running or whose answers are kept.
    explicit KeptAnswers(std::size_t most) : most_(most) {}

    /// The client has the answer or wants none, and will not repeat the call.
    void forget(std::uint64_t id) { calls_.erase(id); }
    /// A call has arrived.
    Seen begin(std::uint64_t id);
    /// The call has run. False if its answer is no longer wanted.
    bool end(std::uint64_t id, std::string answer);
    const std::string& answer(std::uint64_t id) const;
    /// Calls that are running.
    std::size_t running() const { return running_; }
    std::size_t size() const { return calls_.size(); }

  private:
    std::size_t most_;
    std::size_t running_ = 0;
    std::map<std::uint64_t, std::optional<std::string>> calls_;  ///< nullopt: still running
};

}  // namespace muster::rpc
