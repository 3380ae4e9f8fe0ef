#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/time/clock.h"

namespace muster::kube {

/// Limits set by the user; without them only the server's answers limit what is sent.
struct RequestLimits {
    double per_second = 0;  ///< 0: no limit
    double burst = 0;       ///< how many at once after a pause; at least 1 if there is a limit
};

/// The outcome of a request, as far as it tells how busy the server is.
enum class RequestEnd : std::uint8_t {
    kAnswered,
    kTooMany,  ///< 429
    kLost,     ///< no answer in time
    kGivenUp,  ///< by its caller, which says nothing about the server
};

/// How many requests are in flight at a time, and which is sent next.
///
/// - A window of requests in flight. It grows by one for each windowful of answers that came as
///   fast as those before, halves when the server answers 429 or not at all, and never falls below
///   one (TCP's additive increase, multiplicative decrease). A server that queues requests answers
///   slower before it refuses any.
/// - After a 429 nothing is sent until the time that it names.
/// - Flows (one for each job) take turns, so that the first request of one waits for at most a
///   window of the others' requests, however many they have queued.
/// - A flow that has sent kLong requests without ever running out is long. While a flow that is not
///   long has a request waiting or in flight, the long ones together have at most 1/kLongShare of
///   the window: a small job waits mostly for the server, which answers sooner if it has less to
///   do. Requests of no job (the empty flow: events) take their turns and hold no one back, since
///   no job waits for them.
///
/// Pure: no clock, no I/O. The owner calls next() after each input until it returns nothing, and
/// again at wake_at().
class AimdWindow {
  public:
    using Id = std::uint64_t;

    static constexpr int kFirst = 32;
    static constexpr int kMost = 256;
    static constexpr int kLong = 64;
    static constexpr int kLongShare = 4;

    explicit AimdWindow(RequestLimits limits = {});

    void add(const std::string& flow, Id id);
    /// The request is no longer wanted; false if it is not waiting (it was sent).
    bool withdraw(const std::string& flow, Id id);
    /// The next request to send, which then counts as sent.
    std::optional<Id> next(Instant now);
    /// When next() may return something without another input; Instant::max() if there is no such
    /// time.
    Instant wake_at() const { return wake_at_; }
    /// A request of `flow` that next() returned has ended after `took`. `hold_until`: from a 429.
    void ended(const std::string& flow, RequestEnd how, Duration took, Instant now,
               Instant hold_until = {});

    int size() const { return static_cast<int>(size_); }
    int in_flight() const { return in_flight_; }
    std::size_t waiting() const { return waiting_; }

  private:
    struct Flow {
        std::deque<Id> waiting;
        int in_flight = 0;
        int sent = 0;  ///< since the flow last ran out of requests
        bool is_job = false;

        bool is_long() const { return sent >= kLong; }
        bool is_short_job() const { return is_job && !is_long(); }
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
    Flows flows_;                     ///< each has a request that waits or is in flight
    std::deque<std::string> turns_;   ///< flows with waiting requests, each once
    std::deque<std::string> missed_;  ///< long flows that were held back at their turn
    int short_jobs_ = 0;              ///< number of flows of jobs that are not long
    int in_flight_ = 0;
    int long_in_flight_ = 0;  ///< requests of long flows in flight
    std::size_t waiting_ = 0;
    double size_ = kFirst;
    double tokens_ = 0;
    Instant tokens_at_{};
    Instant hold_until_{};
    Instant shrunk_at_{};  ///< requests sent before this do not shrink it again
    bool full_ = false;    ///< the window has held something back since the last round
    // About the answers since the window was last adjusted.
    int round_answers_ = 0;
    Duration round_time_{};
    Duration best_{};  ///< mean of the fastest round, slowly fading; zero: none yet
    Instant wake_at_ = Instant::max();
};

}  // namespace muster::kube
