#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/time/clock.h"

namespace muster::kube {

/// Limits that somebody sets; without them the server's answers alone say how much is sent.
struct RequestLimits {
    double per_second = 0;  ///< 0: no limit
    double burst = 0;       ///< so many at once after a pause; at least 1 where there is a limit
};

/// What became of a request, as far as it tells how busy the server is.
enum class RequestEnd : std::uint8_t {
    kAnswered,
    kTooMany,  ///< 429
    kLost,     ///< no answer in time
    kGivenUp,  ///< by whoever wanted it, which says nothing of the server
};

/// How many requests are on their way at a time, and whose turn is next.
///
/// - A window of requests in flight. It grows by one for each windowful of answers that came as
///   fast as those before, halves when the server says 429 or does not answer, and never falls
///   below one (TCP's additive increase, multiplicative decrease). A server that queues shows it
///   by slower answers before it refuses.
/// - After a 429 nothing is sent until the time that it names.
/// - Flows (one for each job) take turns, so that the first request of one waits for at most a
///   window of the others', however many these have queued.
/// - A flow that has sent kLong requests since it last had none is long. While one that is not has
///   a request waiting or on its way, the long ones have no more than 1/kLongShare of the window
///   together: what a small job waits for is above all the server, which answers sooner with less
///   to do.
///
/// Pure: no clock, no I/O. Whoever owns it calls next() after each input until it gives nothing,
/// and again at wake_at().
class AimdWindow {
  public:
    using Id = std::uint64_t;

    static constexpr int kFirst = 32;
    static constexpr int kMost = 256;
    static constexpr int kLong = 64;
    static constexpr int kLongShare = 4;

    explicit AimdWindow(RequestLimits limits = {});

    void add(const std::string& flow, Id id);
    /// It waits no more; false if it does not wait (it was sent).
    bool withdraw(const std::string& flow, Id id);
    /// The next to be sent, which counts as sent.
    std::optional<Id> next(Instant now);
    /// When next() may give something that it does not give now, without another input;
    /// Instant::max() if there is no such time.
    Instant wake_at() const { return wake_at_; }
    /// One of `flow` that next() gave has ended after `took`. `hold_until`: of a 429.
    void ended(const std::string& flow, RequestEnd how, Duration took, Instant now,
               Instant hold_until = {});

    int size() const { return static_cast<int>(size_); }
    int in_flight() const { return in_flight_; }
    std::size_t waiting() const { return waiting_; }

  private:
    struct Flow {
        std::deque<Id> waiting;
        int in_flight = 0;
        int sent = 0;  ///< since it last had none

        bool is_long() const { return sent >= kLong; }
    };
    using Flows = std::unordered_map<std::string, Flow>;

    bool long_ones_wait() const;
    std::deque<std::string>* whose_turn();
    Id send(std::deque<std::string>& turns);
    void forget_if_idle(Flows::iterator flow);
    void take_token(Instant now);
    void answered(Duration took);
    void shrink(Instant now);

    RequestLimits limits_;
    Flows flows_;                     ///< each has a request that waits or is on its way
    std::deque<std::string> turns_;   ///< of flows_ those with something that waits, once
    std::deque<std::string> missed_;  ///< long ones of them that were held back at their turn
    int short_flows_ = 0;             ///< so many of flows_ are not long
    int in_flight_ = 0;
    int long_in_flight_ = 0;  ///< so many of these are of long flows
    std::size_t waiting_ = 0;
    double size_ = kFirst;
    double tokens_ = 0;
    Instant tokens_at_{};
    Instant hold_until_{};
    Instant shrunk_at_{};  ///< what was sent before does not shrink it again
    bool full_ = false;    ///< the window kept something back since the last round
    // Of the answers since the window was last looked at.
    int round_answers_ = 0;
    Duration round_time_{};
    Duration best_{};  ///< the mean of the fastest round, which slowly fades; zero: none yet
    Instant wake_at_ = Instant::max();
};

}  // namespace muster::kube
