#include "kube/client/lease_election.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace muster::kube {

std::string problem_of(const ElectionTiming& timing) {
    constexpr std::chrono::seconds kShortest{1};  // a Lease counts whole seconds
    const auto seconds = [](Duration time) {
        return fmt::format("{} s", std::chrono::duration<double>(time).count());
    };
    if (timing.lease < kShortest)
        return fmt::format("the lease duration ({}) must be 1 s or more", seconds(timing.lease));
    if (timing.renew_deadline >= timing.lease)
        return fmt::format("the renew deadline ({}) must be shorter than the lease duration ({})",
                           seconds(timing.renew_deadline), seconds(timing.lease));
    if (timing.retry <= Duration::zero())
        return fmt::format("the retry period ({}) must be longer than nothing",
                           seconds(timing.retry));
    if (timing.retry * 2 > timing.renew_deadline)
        return fmt::format("the retry period ({}) must be at most half of the renew deadline ({})",
                           seconds(timing.retry), seconds(timing.renew_deadline));
    return {};
}

LeaseElection::LeaseElection(std::string identity, ElectionTiming timing)
    : identity_(std::move(identity)), timing_(timing) {
    CHECK(!identity_.empty(), "a candidate has a name");
}

LeaseElection::Step LeaseElection::next(Instant now, WallTime wall_now) const {
    if (sent_) return {};
    if (now < not_before_) return {.until = not_before_};
    if (read_first_) return {.act = Act::kRead};
    const Instant when = std::max(due(now), no_write_before_);
    if (now < when) return {.until = when};
    return {.act = Act::kWrite, .record = mine(wall_now)};
}

/// When to write the Lease.
Instant LeaseElection::due(Instant now) const {
    if (!record_ || record_->holder.empty()) return now;
    if (record_->holder == identity_) return leads(now) ? renewed_at_ + timing_.retry : now;
    const bool says = record_->duration > std::chrono::seconds::zero();
    return changed_at_ + (says ? record_->duration : timing_.lease);
}

LeaseRecord LeaseElection::mine(WallTime wall_now) const {
    LeaseRecord record{.holder = identity_,
                       .duration = timing_.lease,
                       .acquired = wall_now,
                       .renewed = wall_now,
                       .transitions = 0,
                       .resource_version = {}};
    if (!record_) return record;
    record.resource_version = record_->resource_version;
    record.transitions = record_->transitions;
    if (record_->holder == identity_)
        record.acquired = record_->acquired;
    else
        ++record.transitions;
    return record;
}

void LeaseElection::sent(Instant now) {
    CHECK(!sent_, "one request at a time");
    sent_ = now;
}

void LeaseElection::read(std::optional<LeaseRecord> found, Instant now) {
    CHECK(sent_, "an answer has a request");
    sent_.reset();
    take(std::move(found), now);
}

void LeaseElection::written(LeaseRecord stored, Instant now) {
    CHECK(sent_, "an answer has a request");
    renewed_at_ = *std::exchange(sent_, std::nullopt);
    take(std::move(stored), now);
    leads_until_ = renewed_at_ + timing_.renew_deadline;
}

void LeaseElection::outdated() {
    CHECK(sent_, "an answer has a request");
    no_write_before_ = *std::exchange(sent_, std::nullopt) + timing_.retry;
    read_first_ = true;
}

void LeaseElection::failed() {
    CHECK(sent_, "an answer has a request");
    not_before_ = *std::exchange(sent_, std::nullopt) + timing_.retry;
    read_first_ = true;
}

/// For the same holder the renewal time tells what is newer, for two holders the count of
/// transitions: both only grow while a Lease exists. If they do not (a calendar was set back,
/// someone recreated the Lease) news is missed, our next write is refused, and we read.
void LeaseElection::watched(const LeaseRecord& record, Instant now) {
    if (record_) {
        if (record.transitions < record_->transitions) return;
        if (record.transitions == record_->transitions && record.holder == record_->holder &&
            record.renewed <= record_->renewed)
            return;
    }
    take(record, now);
}

void LeaseElection::watched_removal(const LeaseRecord& last, Instant now) {
    if (!record_ || last.transitions < record_->transitions) return;
    if (last.transitions == record_->transitions && last.holder == record_->holder &&
        last.renewed < record_->renewed)
        return;
    take(std::nullopt, now);
}

void LeaseElection::take(std::optional<LeaseRecord> record, Instant now) {
    read_first_ = false;
    if (!record || record->holder != identity_) leads_until_.reset();
    if (record == record_) return;
    changed_at_ = now;
    no_write_before_ = {};
    record_ = std::move(record);
}

std::optional<LeaseRecord> LeaseElection::release(WallTime wall_now) {
    leads_until_.reset();
    if (!record_ || record_->holder != identity_) return std::nullopt;
    LeaseRecord record = mine(wall_now);
    record.holder.clear();
    record.duration = std::chrono::seconds(1);
    return record;
}

}  // namespace muster::kube
