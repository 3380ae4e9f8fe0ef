#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time/clock.h"

namespace muster::kube {

/// The content of a Lease, as an election reads and writes it.
struct LeaseRecord {
    std::string holder;  ///< empty: it was released
    std::chrono::seconds duration{};
    WallTime acquired{};
    WallTime renewed{};
    std::int32_t transitions = 0;  ///< how often the holder changed
    std::string resource_version;  ///< empty if the object is not stored

    friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

/// Durations, with client-go's defaults. A leader sends nothing later than `renew_deadline` after
/// it sent the last successful renewal; others take over no earlier than `lease` after they saw it.
/// The difference allows for requests in flight and for clocks of different speed.
struct ElectionTiming {
    std::chrono::seconds lease{15};
    Duration renew_deadline = std::chrono::seconds(10);
    Duration retry = std::chrono::seconds(2);  ///< between renewals, and after a failure
};

/// What is wrong with it, for people; empty if nothing is.
std::string problem_of(const ElectionTiming& timing);

/// Decides who leads: the state of one candidate between what it learnt of the Lease and what it
/// sends. It never compares the calendars of two machines: a lease of another holder has expired
/// when it has not changed for its duration by our own monotonic clock (as in client-go's
/// leaderelection). At most one request is in flight.
///
/// Pure: no clock, no I/O. The owner calls next() after each input and at the time that next()
/// named.
class LeaseElection {
  public:
    enum class Act { kWait, kRead, kWrite };
    struct Step {
        Act act = Act::kWait;
        /// kWrite: the new content of the Lease. To be created if it has no resourceVersion.
        LeaseRecord record = {};
        /// kWait: when to ask again; Instant::max() if only an input can change anything.
        Instant until = Instant::max();
    };

    /// `identity`: unique to this process, and different even from its predecessor's on this
    /// machine.
    LeaseElection(std::string identity, ElectionTiming timing);

    Step next(Instant now, WallTime wall_now) const;

    /// The request of the last next() was sent.
    void sent(Instant now);
    /// The answer to a read; it reflects all writes before it was sent. Null: there is no Lease.
    void read(std::optional<LeaseRecord> found, Instant now);
    /// A write succeeded; `stored` is what the server answered.
    void written(LeaseRecord stored, Instant now);
    /// A write was refused because the Lease is not as we knew it.
    void outdated();
    /// There was no answer, or one that says nothing about the Lease. A write may have happened.
    void failed();
    /// An event of a watch, which may be older than what we wrote or read: the Lease's content now,
    /// or when it was removed.
    void watched(const LeaseRecord& record, Instant now);
    void watched_removal(const LeaseRecord& last, Instant now);

    /// We may write until then; empty if we may not.
    std::optional<Instant> leads_until() const { return leads_until_; }
    bool leads(Instant now) const { return leads_until_ && now < *leads_until_; }
    /// The content of the Lease that lets others take over immediately; empty if the Lease is not
    /// ours. We no longer lead from here on.
    std::optional<LeaseRecord> release(WallTime wall_now);

    /// The holder as far as we know; empty if there is none or it is not known yet.
    std::string holder() const { return record_ ? record_->holder : std::string(); }

  private:
    LeaseRecord mine(WallTime wall_now) const;
    Instant due(Instant now) const;
    void take(std::optional<LeaseRecord> record, Instant now);

    std::string identity_;
    ElectionTiming timing_;
    bool read_first_ = true;             ///< what we know may be wrong
    std::optional<LeaseRecord> record_;  ///< as far as we know; empty if there is no Lease
    Instant changed_at_{};               ///< when we saw record_ change
    std::optional<Instant> sent_;        ///< when the request in flight was sent
    Instant not_before_{};               ///< after a failure nothing is sent
    Instant no_write_before_{};          ///< after a write of what we still believe was refused
    Instant renewed_at_{};               ///< when the last successful renewal was sent
    std::optional<Instant> leads_until_;
};

}  // namespace muster::kube
