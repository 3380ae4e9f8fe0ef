#include "master/kv/kv_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/parse_number.h"

namespace muster::master {
namespace {

std::string name_of(const Generation& generation) {
    return fmt::format("generation {}.{}", generation.epoch, generation.number);
}

Error not_of_the_job(std::string_view what) {
    return {Code::kInvalid,
            fmt::format("{} is for the members of a generation, and none is named", what)};
}

}  // namespace

// ---- the running world

void KvStore::runs(const World* world, const std::string& why) {
    // A node that is the whole world may have restarted its workers in the same generation.
    const bool goes_on = running_ && world != nullptr &&
                         running_->generation == world->generation &&
                         running_->restarts == world->restarts;
    if (goes_on || (!running_ && world == nullptr)) return;
    if (running_) end(why);
    if (world == nullptr) return;
    running_.emplace(Running{.generation = world->generation,
                             .restarts = world->restarts,
                             .expected = {},
                             .space = {},
                             .barriers = {},
                             .points = {}});
    for (int rank = 0; rank < world->nodes; ++rank)
        running_->expected.insert(running_->expected.end(), rank);
}

void KvStore::end(const std::string& why) {
    const Error error(Code::kGone, fmt::format("{} has ended{}{}", name_of(running_->generation),
                                               why.empty() ? "" : ": ", why));
    std::vector<Waiter> waiters;
    for (const auto& [waiter, wait] : waiting_)
        if (wait.space != &of_job_) waiters.push_back(waiter);
    std::ranges::sort(waiters);
    for (const Waiter waiter : waiters) answer(waiter, error);
    names_ -= running_->space.values.size();
    for (const auto& [key, value] : running_->space.values) bytes_ -= key.size() + value.size();
    for (Meetings* meetings : {&running_->barriers, &running_->points})
        while (!meetings->empty()) drop(*meetings, meetings->begin());
    ended_ = {running_->generation, error.message()};
    running_.reset();
}

void KvStore::done(const Generation& generation, int rank) {
    if (!running_ || running_->generation != generation) return;
    if (running_->expected.erase(rank) == 0) return;
    look_at_all(running_->barriers);
    look_at_all(running_->points);
}

void KvStore::expect(const Generation& generation, std::set<int> ranks) {
    if (!running_ || running_->generation != generation) return;
    running_->expected = std::move(ranks);
    look_at_all(running_->barriers);
    look_at_all(running_->points);
}

// ---- requests

void KvStore::ask(Waiter waiter, std::optional<int> rank, KvRequest request) {
    const Result<Space*> space = space_of(request.space, rank);
    if (!space) {
        answered_.emplace_back(waiter, space.error());
        return;
    }
    Outcome outcome = std::visit(
        [&](auto& what) { return act(waiter, **space, rank.value_or(0), what); }, request.what);
    if (!outcome)
        answered_.emplace_back(waiter, std::move(outcome).error());
    else if (*outcome)
        answered_.emplace_back(waiter, **std::move(outcome));
}

Result<KvStore::Space*> KvStore::space_of(const KvSpace& asked, std::optional<int> rank) {
    if (asked.epoch != epoch_)
        return Error(Code::kGone,
                     fmt::format("these keys belonged to the master of epoch {}, and that of epoch "
                                 "{} is in charge now: they are lost; start over",
                                 asked.epoch, epoch_));
    if (!asked.generation) return &of_job_;
    if (!running_ || running_->generation != *asked.generation)
        return Error(Code::kGone, ended_ && ended_->first == *asked.generation
                                      ? ended_->second
                                      : name_of(*asked.generation) + " does not run");
    if (!rank)
        return Error(Code::kForbidden,
                     "only members can use the keys of " + name_of(*asked.generation));
    return &running_->space;
}

Result<void> KvStore::check_name(const std::string& name) const {
    if (name.empty()) return Error(Code::kInvalid, "a key, a barrier or a point needs a name");
    if (name.size() > limits_.name)
        return Error(Code::kTooLarge, fmt::format("a name of {} bytes; at most {} are allowed",
                                                  name.size(), limits_.name));
    return {};
}

/// Whether there is room for that many more.
Result<void> KvStore::check_room(std::size_t names, std::size_t bytes, std::size_t waits) const {
    if (names_ + names > limits_.names)
        return Error(Code::kTooLarge, fmt::format("the master already keeps {} names, the most it "
                                                  "may: delete keys that are no longer needed",
                                                  names_));
    if (bytes_ + bytes > limits_.bytes)
        return Error(Code::kTooLarge, fmt::format("the master already keeps {} bytes of keys of at "
                                                  "most {}: delete keys that are no longer needed",
                                                  bytes_, limits_.bytes));
    if (waits_ + waits > limits_.waits)
        return Error(Code::kTooLarge,
                     fmt::format("{} keys are already waited for, the most allowed", waits_));
    return {};
}

// ---- keys

Result<void> KvStore::put(Space& space, const std::string& key, std::string value) {
    TRY_VOID(check_name(key));
    if (value.size() > limits_.value)
        return Error(Code::kTooLarge, fmt::format("a value of {} bytes; at most {} are allowed",
                                                  value.size(), limits_.value));
    const auto found = space.values.find(key);
    if (found == space.values.end()) {
        TRY_VOID(check_room(1, key.size() + value.size(), 0));
        ++names_;
        bytes_ += key.size() + value.size();
        space.values.emplace(key, std::move(value));
    } else {
        const std::size_t before = found->second.size();
        if (value.size() > before) TRY_VOID(check_room(0, value.size() - before, 0));
        bytes_ = bytes_ - before + value.size();
        found->second = std::move(value);
    }
    look_at(space, key);
    return {};
}

/// The key exists now.
void KvStore::look_at(Space& space, const std::string& key) {
    const auto found = space.awaited.find(key);
    if (found == space.awaited.end()) return;
    // A copy: answered waiters leave the list.
    const std::set<Waiter> waiters = found->second;
    for (const Waiter waiter : waiters)
        if (std::ranges::all_of(waiting_.at(waiter).names, [&](const std::string& name) {
                return space.values.contains(name);
            }))
            answer(waiter, KvAnswer{});
}

KvStore::Outcome KvStore::act(Waiter /*waiter*/, Space& space, int /*rank*/, SetKey& what) {
    TRY_VOID(put(space, what.key, std::move(what.value)));
    return std::optional(KvAnswer{});
}

KvStore::Outcome KvStore::act(Waiter /*waiter*/, Space& space, int /*rank*/, GetKey& what) {
    const auto found = space.values.find(what.key);
    if (found == space.values.end()) return std::optional(KvAnswer{});
    return std::optional(KvAnswer{.value = found->second});
}

KvStore::Outcome KvStore::act(Waiter /*waiter*/, Space& space, int /*rank*/, AddToKey& what) {
    std::int64_t sum = 0;
    if (const auto found = space.values.find(what.key); found != space.values.end()) {
        const std::optional<std::int64_t> number = parse_number<std::int64_t>(found->second);
        if (!number)
            return Error(Code::kInvalid,
                         "something is to be added to " + what.key + ", which is not a number");
        sum = *number;
    }
    if (__builtin_add_overflow(sum, what.amount, &sum))
        return Error(Code::kInvalid, "the sum in " + what.key + " would not fit into 64 bits");
    TRY_VOID(put(space, what.key, std::to_string(sum)));
    return std::optional(KvAnswer{.number = sum});
}

KvStore::Outcome KvStore::act(Waiter /*waiter*/, Space& space, int /*rank*/, CompareSetKey& what) {
    const auto found = space.values.find(what.key);
    const bool is_there = found != space.values.end();
    if (is_there != what.expected.has_value() || (is_there && found->second != *what.expected))
        return std::optional(
            KvAnswer{.value = is_there ? std::optional(found->second) : std::nullopt});
    TRY_VOID(put(space, what.key, what.desired));
    return std::optional(KvAnswer{.value = std::move(what.desired), .yes = true});
}

KvStore::Outcome KvStore::act(Waiter /*waiter*/, Space& space, int /*rank*/, DeleteKey& what) {
    const auto found = space.values.find(what.key);
    if (found == space.values.end()) return std::optional(KvAnswer{});
    --names_;
    bytes_ -= found->first.size() + found->second.size();
    space.values.erase(found);
    return std::optional(KvAnswer{.yes = true});
}

KvStore::Outcome KvStore::act(Waiter waiter, Space& space, int rank, AwaitKeys& what) {
    for (const std::string& key : what.keys) TRY_VOID(check_name(key));
    if (std::ranges::all_of(what.keys,
                            [&](const std::string& key) { return space.values.contains(key); }))
        return std::optional(KvAnswer{});
    TRY_VOID(check_room(0, 0, what.keys.size()));
    waits_ += what.keys.size();
    for (const std::string& key : what.keys) space.awaited[key].insert(waiter);
    waiting_.emplace(waiter, Wait{.space = &space, .names = std::move(what.keys), .rank = rank});
    return std::optional<KvAnswer>();
}

// ---- barriers and points

bool KvStore::all_have_come(const Meeting& meeting) const {
    const std::set<int>& expected = running_->expected;
    return meeting.come.size() >= expected.size() &&
           std::ranges::all_of(expected, [&](int rank) { return meeting.come.contains(rank); });
}

/// Releases the waiters when all members have come.
void KvStore::look_at(Meetings& meetings, Meetings::iterator meeting) {
    if (!all_have_come(meeting->second)) return;
    const bool is_point = &meetings == &running_->points;
    meeting->second.over = is_point;
    // A barrier disappears with its last waiter.
    const std::set<Waiter> waiters = meeting->second.waiters;
    for (const Waiter waiter : waiters) answer(waiter, KvAnswer{.yes = is_point});
}

void KvStore::look_at_all(Meetings& meetings) {
    for (auto next = meetings.begin(); next != meetings.end();) look_at(meetings, next++);
}

void KvStore::drop(Meetings& meetings, Meetings::iterator meeting) {
    --names_;
    bytes_ -= meeting->first.size();
    meetings.erase(meeting);
}

KvStore::Outcome KvStore::enter(Waiter waiter, Meetings& meetings, int rank, std::string name) {
    TRY_VOID(check_name(name));
    auto meeting = meetings.find(name);
    if (meeting == meetings.end()) {
        TRY_VOID(check_room(1, name.size(), 1));
        meeting = meetings.try_emplace(name).first;
        ++names_;
        bytes_ += name.size();
    } else if (meeting->second.over) {
        return std::optional(KvAnswer{.yes = true});
    } else {
        TRY_VOID(check_room(0, 0, 1));
    }
    ++waits_;
    meeting->second.waiters.insert(waiter);
    if (&meetings == &running_->barriers) ++meeting->second.come[rank];
    waiting_.emplace(waiter, Wait{.names = {std::move(name)}, .meetings = &meetings, .rank = rank});
    look_at(meetings, meeting);
    return std::optional<KvAnswer>();
}

KvStore::Outcome KvStore::act(Waiter waiter, Space& space, int rank, EnterBarrier& what) {
    if (&space == &of_job_) return not_of_the_job("a barrier");
    return enter(waiter, running_->barriers, rank, std::move(what.name));
}

KvStore::Outcome KvStore::act(Waiter waiter, Space& space, int rank, AwaitSyncPoint& what) {
    if (&space == &of_job_) return not_of_the_job("a point");
    return enter(waiter, running_->points, rank, std::move(what.name));
}

KvStore::Outcome KvStore::act(Waiter /*waiter*/, Space& space, int rank, JoinSyncPoint& what) {
    if (&space == &of_job_) return not_of_the_job("a point");
    TRY_VOID(check_name(what.name));
    Meetings& points = running_->points;
    auto point = points.find(what.name);
    if (point == points.end()) {
        TRY_VOID(check_room(1, what.name.size(), 0));
        point = points.try_emplace(what.name).first;
        ++names_;
        bytes_ += what.name.size();
    }
    point->second.come.try_emplace(rank, 1);
    look_at(points, point);
    return std::optional(KvAnswer{.yes = point->second.over});
}

// ---- waiters

void KvStore::answer(Waiter waiter, Result<KvAnswer> with) {
    forget(waiter);
    answered_.emplace_back(waiter, std::move(with));
}

void KvStore::forget(Waiter waiter) {
    const auto found = waiting_.find(waiter);
    if (found == waiting_.end()) return;
    const Wait wait = std::move(found->second);
    waiting_.erase(found);
    waits_ -= wait.names.size();
    if (wait.space != nullptr) {
        for (const std::string& name : wait.names) {
            const auto awaited = wait.space->awaited.find(name);
            if (awaited == wait.space->awaited.end()) continue;  // the request names it twice
            awaited->second.erase(waiter);
            if (awaited->second.empty()) wait.space->awaited.erase(awaited);
        }
        return;
    }
    const auto meeting = wait.meetings->find(wait.names.front());
    Meeting& there = meeting->second;
    there.waiters.erase(waiter);
    if (wait.meetings == &running_->barriers)
        if (const auto come = there.come.find(wait.rank); --come->second == 0)
            there.come.erase(come);
    if (there.waiters.empty() && there.come.empty() && !there.over) drop(*wait.meetings, meeting);
}

}  // namespace muster::master
