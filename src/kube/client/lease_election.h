#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time/clock.h"

namespace muster::kube {

/// What a Lease says, as an election reads and writes it.
struct LeaseRecord {
    std::string holder;  ///< empty: it was released
    std::chrono::seconds duration{};
    WallTime acquired{};
    WallTime renewed{};
    std::int32_t transitions = 0;  ///< how often the holder changed
    std::string resource_version;  ///< empty: of no stored object

    friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

/// How long things take, with client-go's defaults. A leader sends nothing later than
/// `renew_deadline` after it sent the last renewal that succeeded; others take over no earlier than
/// `lease` after they saw it. The difference is for what is on its way, and for clocks that do not
/// run equally fast.
struct ElectionTiming {
    std::chrono::seconds lease{15};
    Duration renew_deadline = std::chrono::seconds(10);
    Duration retry = std::chrono::seconds(2);  ///< between renewals, and after a failure
};

/// What is wrong with it, for a person; empty if nothing is.
std::string problem_of(const ElectionTiming& timing);

/// Decides who leads: the state of one candidate between what it was told of the Lease and what it
/// sends. Nobody's calendar is compared with another's: a lease that somebody else holds has ended
/// when it has not changed for its duration by our own monotonic clock (as in client-go's
/// leaderelection). At most one request is on its way.
///
/// Pure: no clock, no I/O. Whoever owns it calls next() after each input and at the time that it
/// named.
class LeaseElection {
  public:
    enum class Act { kWait, kRead, kWrite };
    struct Step {
        Act act = Act::kWait;
        /// kWrite: what the Lease is to say. To be created if it has no resourceVersion.
        LeaseRecord record = {};
        /// kWait: when to ask again; Instant::max() if nothing but an input changes anything.
        Instant until = Instant::max();
    };

    /// `identity`: of this process and no other, not even of the one before it on this machine.
    LeaseElection(std::string identity, ElectionTiming timing);

    Step next(Instant now, WallTime wall_now) const;

    /// What next() asked for was sent.
    void sent(Instant now);
    /// The answer to a read, which knows all that was written before it was sent. Null: there is no
    /// Lease.
    void read(std::optional<LeaseRecord> found, Instant now);
    /// A write succeeded; `stored` is what the server answered.
    void written(LeaseRecord stored, Instant now);
    /// A write was refused since the Lease is not as we knew it.
    void outdated();
    /// There was no answer, or one that says nothing of the Lease. A write may have happened.
    void failed();
    /// News from a watch, which may be older than what we wrote or read: what the Lease says now,
    /// or said when it was removed.
    void watched(const LeaseRecord& record, Instant now);
    void watched_removal(const LeaseRecord& last, Instant now);

    /// We may write until then; empty: we may not.
    std::optional<Instant> leads_until() const { return leads_until_; }
    bool leads(Instant now) const { return leads_until_ && now < *leads_until_; }
    /// What the Lease is to say for others to take over at once; empty if it is not ours. We lead
    /// no more from here on.
    std::optional<LeaseRecord> release(WallTime wall_now);

    /// Who holds it as far as we know; empty: nobody, or not known yet.
    std::string holder() const { return record_ ? record_->holder : std::string(); }

  private:
    LeaseRecord mine(WallTime wall_now) const;
    Instant due(Instant now) const;
    void take(std::optional<LeaseRecord> record, Instant now);

    std::string identity_;
    ElectionTiming timing_;
    bool read_first_ = true;             ///< what we know may be wrong
    std::optional<LeaseRecord> record_;  ///< as far as we know; empty: there is no Lease
    Instant changed_at_{};               ///< when we saw record_ change
    std::optional<Instant> sent_;        ///< when the request on its way was sent
    Instant not_before_{};               ///< after a failure nothing is sent
    Instant no_write_before_{};  ///< after a write of what we still take for true was refused
    Instant renewed_at_{};       ///< when the last renewal that succeeded was sent
    std::optional<Instant> leads_until_;
};

}  // namespace muster::kube
