#include "master/ps_cluster/ps_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <tuple>

#include "base/parse_number.h"

namespace muster::master {
namespace {

constexpr std::string_view kServer = "ps";

Error impossible(std::string_view what, std::int64_t value, std::int64_t limit) {
    return {Code::kInvalid,
            fmt::format("{} {} can't be: it is from 0 to {}", what, value, limit - 1)};
}

Result<void> in_range(std::string_view what, std::int64_t value, std::int64_t limit) {
    if (value < 0 || value >= limit) return impossible(what, value, limit);
    return {};
}

/// FNV-1a, which is the same in each build.
class Digest {
  public:
    void add(std::string_view text) {
        for (const char byte : text) {
            value_ ^= static_cast<unsigned char>(byte);
            value_ *= 0x100000001b3U;
        }
    }
    std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace

PsTable::PsTable(std::uint64_t epoch, std::string_view kept, PsLimits limits) : limits_(limits) {
    cluster_.epoch = epoch;
    adopt(kept);
}

/// What an earlier master kept, if it is newer than what is known here.
void PsTable::adopt(std::string_view kept) {
    const std::size_t space = kept.find(' ');
    if (space == kept.npos) return;
    const auto version = parse_number<std::int64_t>(kept.substr(0, space));
    const auto digest = parse_number<std::uint64_t>(kept.substr(space + 1));
    if (!version || !digest || *version >= limits_.version) return;
    if (*version <= cluster_.version) return;
    cluster_.version = *version;
    digest_ = *digest;
    follows_another_ = true;
    keep();
}

void PsTable::keep() { cluster_.kept = fmt::format("{} {}", cluster_.version, digest_); }

// ---- what is told

Result<void> PsTable::check(const TaskVersions& versions) const {
    if (versions.type.empty() || versions.type.size() > limits_.text)
        return Error(Code::kInvalid, "a version is of a task with a type, such as \"worker\"");
    TRY_VOID(in_range("the rank", versions.rank, limits_.number));
    if (versions.local) TRY_VOID(in_range("the version", *versions.local, limits_.version));
    // What is not restored is -1.
    if (versions.restored && *versions.restored != -1)
        TRY_VOID(in_range("the version", *versions.restored, limits_.version));
    return {};
}

Result<void> PsTable::check(const PsAttendance& told) const {
    if (told.type.empty() || told.type.size() > limits_.text)
        return Error(Code::kInvalid, "who attends has a type, such as \"worker\"");
    if (const std::size_t longest =
            std::max({told.address.size(), told.kept.size(), told.container.size()});
        longest > limits_.text)
        return Error(Code::kTooLarge, fmt::format("a text of {} bytes; at most {} are allowed",
                                                  longest, limits_.text));
    TRY_VOID(in_range("the id", told.id, limits_.number));
    TRY_VOID(in_range("the rank", told.rank, limits_.number));
    TRY_VOID(in_range("the number of servers", told.servers, limits_.servers + 1));
    TRY_VOID(in_range("the number of places", told.places, limits_.places + 1));
    if (told.place) TRY_VOID(in_range("the place", *told.place, limits_.places));
    if (told.type == kServer && told.address.empty())
        return Error(Code::kInvalid, "a parameter server says where it is reached");
    if (told.versions.size() > limits_.tasks)
        return Error(Code::kTooLarge, "versions of more tasks than a job has");
    for (const TaskVersions& versions : told.versions) TRY_VOID(check(versions));
    return {};
}

Result<PsTable::Line> PsTable::attends(const std::string& who, PsAttendance told) {
    TRY_VOID(check(told));
    if (!attendants_.contains(who) && attendants_.size() >= limits_.attendants)
        return Error(Code::kTooLarge, fmt::format("{} programs attend already, the most that may",
                                                  attendants_.size()));
    for (const TaskVersions& versions : told.versions)
        if (tasks_.contains({versions.type, versions.rank}) || tasks_.size() < limits_.tasks)
            note(versions);
    told.versions.clear();
    adopt(told.kept);
    if (told.place) seen_places_.insert(*told.place);
    attendants_.insert_or_assign(who, Attendant{.told = std::move(told), .line = ++last_});
    return last_;
}

void PsTable::leaves(const std::string& who, Line line) {
    const auto found = attendants_.find(who);
    if (found != attendants_.end() && found->second.line == line) found->second.here = false;
}

void PsTable::note(const TaskVersions& versions) {
    TaskVersions& task = tasks_[{versions.type, versions.rank}];
    if (versions.local) task.local = versions.local;
    if (versions.restored) task.restored = versions.restored;
}

Result<std::int64_t> PsTable::version(const VersionRequest& request) {
    if (request.kind == VersionKind::kGlobal) {
        if (request.set) {
            TRY_VOID(in_range("the version", *request.set, limits_.version));
            cluster_.version = std::max(cluster_.version, *request.set);
            keep();
        }
        return cluster_.version;
    }
    const bool is_local = request.kind == VersionKind::kLocal;
    TaskVersions told{.type = request.type, .rank = request.rank};
    (is_local ? told.local : told.restored) = request.set;
    TRY_VOID(check(told));
    const auto found = tasks_.find({request.type, request.rank});
    if (request.set) {
        if (found == tasks_.end() && tasks_.size() >= limits_.tasks)
            return Error(Code::kTooLarge, fmt::format("{} tasks have versions already, the most "
                                                      "that may",
                                                      tasks_.size()));
        note(told);
        return *request.set;
    }
    if (found == tasks_.end()) return is_local ? 0 : -1;
    return is_local ? found->second.local.value_or(0) : found->second.restored.value_or(-1);
}

// ---- who has which rank

PsTable::Holders PsTable::holders() const {
    const auto order = [](Attendants::const_iterator one) {
        const PsAttendance& told = one->second.told;
        return std::tuple(!one->second.here, told.id, told.started, std::string_view(one->first));
    };
    const PsAttendance* newest = nullptr;
    for (const Attendant& attendant : attendants_ | std::views::values)
        if (attendant.told.type == kServer && (newest == nullptr || attendant.told.id > newest->id))
            newest = &attendant.told;
    if (newest == nullptr) return {};
    const std::int32_t most = newest->servers;
    const std::int32_t number = wanted_ && *wanted_ > 0 ? std::min(most, *wanted_) : most;
    Holders all(static_cast<std::size_t>(number));
    for (auto one = attendants_.begin(); one != attendants_.end(); ++one) {
        const PsAttendance& told = one->second.told;
        if (told.type != kServer || std::cmp_greater_equal(told.rank, all.size())) continue;
        auto& holder = all[static_cast<std::size_t>(told.rank)];
        if (!holder || order(one) < order(*holder)) holder = one;
    }
    return all;
}

/// Those who are away and whose rank another pod has by now: they don't get it back when that one is
/// away for a moment, too.
void PsTable::forget_the_followed(const Holders& holders) {
    std::erase_if(attendants_, [&](const auto& one) {
        const PsAttendance& told = one.second.told;
        if (one.second.here || told.type != kServer) return false;
        if (std::cmp_greater_equal(told.rank, holders.size())) return false;
        const auto& holder = holders[static_cast<std::size_t>(told.rank)];
        return holder && (*holder)->second.here && (*holder)->second.told.id != told.id;
    });
}

void PsTable::make_cluster(const Holders& holders) {
    Digest digest;
    std::vector<std::string> servers;
    for (const auto& holder : holders) {
        const auto& [who, attendant] = **holder;
        const std::string& container = attendant.told.container;
        digest.add(fmt::format("{} {};", attendant.told.id, container.empty() ? who : container));
        servers.push_back(attendant.told.address);
    }
    if (digest.value() != digest_ || cluster_.version == 0) ++cluster_.version;
    digest_ = digest.value();
    keep();
    cluster_.servers = std::move(servers);
    cluster_.complete = true;
}

void PsTable::advance(Instant now) {
    if (follows_another_ && !settles_at_) settles_at_ = now + limits_.settling;
    settled_ = settles_at_ && now >= *settles_at_;
    for (auto one = attendants_.begin(); one != attendants_.end();) {
        Attendant& attendant = one->second;
        if (!attendant.here && !attendant.gone_at) attendant.gone_at = now + limits_.grace;
        const bool gone = !attendant.here && *attendant.gone_at <= now;
        one = gone ? attendants_.erase(one) : std::next(one);
    }
    Holders all = holders();
    forget_the_followed(all);
    const auto empty = std::ranges::find_if(all, [](const auto& one) { return !one; });
    if (!all.empty() && empty == all.end()) {
        missing_since_.reset();
        return make_cluster(all);
    }
    cluster_.complete = false;
    const bool only_the_highest =
        empty != all.begin() && std::all_of(empty, all.end(), [](const auto& one) { return !one; });
    if (!only_the_highest) {
        missing_since_.reset();
        return;
    }
    if (!missing_since_) missing_since_ = now;
    if (now - *missing_since_ < limits_.patience) return;
    all.erase(empty, all.end());
    make_cluster(all);
}

Instant PsTable::wake_at() const {
    Instant next = Instant::max();
    for (const Attendant& attendant : attendants_ | std::views::values)
        if (!attendant.here) next = std::min(next, attendant.gone_at.value_or(Instant::min()));
    if (missing_since_ && !cluster_.complete)
        next = std::min(next, *missing_since_ + limits_.patience);
    if (settles_at_ && !settled_) next = std::min(next, *settles_at_);
    return next;
}

// ---- meetings

std::optional<int> PsTable::place_of(const std::string& who) const {
    const auto found = attendants_.find(who);
    return found == attendants_.end() ? std::nullopt : std::optional<int>(found->second.told.place);
}

std::set<int> PsTable::expected() const {
    std::set<int> places;
    const PsAttendance* newest = nullptr;
    for (const Attendant& attendant : attendants_ | std::views::values) {
        if (!attendant.told.place) continue;
        places.insert(*attendant.told.place);
        if (newest == nullptr || attendant.told.started > newest->started) newest = &attendant.told;
    }
    if (newest == nullptr || settled_) return places;
    for (int place = 0; place < newest->places; ++place)
        if (!seen_places_.contains(place)) places.insert(place);
    return places;
}

}  // namespace muster::master
