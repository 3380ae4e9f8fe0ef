#include "master/wishes/wishes.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/parse_number.h"

namespace muster::master {
namespace {

/// Of the label kubernetes.io/hostname, and of a pod.
constexpr std::size_t kLongestHost = 63;
constexpr std::size_t kLongestPod = 253;

bool is_name(const std::string& text, std::size_t longest) {
    const auto is_alnum = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    return !text.empty() && text.size() <= longest && is_alnum(text.front()) &&
           is_alnum(text.back()) && std::ranges::all_of(text, [&](char c) {
               return is_alnum(c) || c == '-' || c == '.' || c == '_';
           });
}

}  // namespace

Wishes::Wishes(const std::string& kept) {
    std::istringstream lines(kept);
    std::string host;
    std::string until;
    while (lines >> host >> until) {
        const auto time = parse_number<std::int64_t>(until);
        if (!is_name(host, kLongestHost) || (!time && until != "-")) continue;
        leave_out({.host = host,
                   .until = time ? std::optional(WallTime(std::chrono::nanoseconds(*time)))
                                 : std::nullopt});
    }
}

std::string Wishes::kept() const {
    std::string text;
    for (const LeftOut& one : left_out_)
        text += fmt::format(
            "{} {}\n", one.host,
            one.until ? std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                           one.until->time_since_epoch())
                                           .count())
                      : "-");
    return text;
}

bool Wishes::is_left_out(const std::string& host) const {
    return std::ranges::find(left_out_, host, &LeftOut::host) != left_out_.end();
}

void Wishes::leave_out(LeftOut one) {
    std::erase_if(left_out_, [&](const LeftOut& other) { return other.host == one.host; });
    left_out_.push_back(std::move(one));
    if (left_out_.size() > kMostLeftOut) left_out_.erase(left_out_.begin());
}

void Wishes::joined(const std::string& incarnation, Place place) {
    if (!is_name(place.pod, kLongestPod)) place.pod.clear();
    if (!is_name(place.host, kLongestHost)) place.host.clear();
    const bool came_after = place.is_new && is_left_out(place.host);
    const auto [agent, first] = agents_.try_emplace(incarnation, Agent{place, came_after});
    if (!first) return;  // it is where it was
    changed_ = true;
}

void Wishes::lost(const std::string& incarnation) {
    agents_.erase(incarnation);
    spares_.erase(incarnation);
}

void Wishes::excluded(const std::string& incarnation, const std::string& host,
                      std::optional<WallTime> until) {
    lost(incarnation);
    if (!is_name(host, kLongestHost)) return;
    leave_out({.host = host, .until = until});
    for (auto& [name, agent] : agents_)
        if (agent.place.host == host) agent.came_after = false;
}

void Wishes::world_is(std::optional<std::set<std::string>> members) {
    members_ = std::move(members);
    changed_ = true;
}

void Wishes::advance(Instant now) {
    if (std::exchange(changed_, false)) settles_at_ = members_ ? now + kSettles : Instant::max();
    if (now < settles_at_ || !members_) return;
    settles_at_ = Instant::max();
    knows_spares_ = true;
    spares_.clear();
    for (const auto& [incarnation, agent] : agents_)
        if (!members_->contains(incarnation)) spares_.insert(incarnation);
}

std::optional<Wish> Wishes::wish(WallTime wall) const {
    Wish wish;
    for (const LeftOut& one : left_out_)
        if (!one.until || wall < *one.until) wish.left_out.push_back(one);
    for (const auto& [incarnation, agent] : agents_) {
        const std::string& pod = agent.place.pod;
        if (pod.empty()) continue;
        const bool there = std::ranges::find(wish.left_out, agent.place.host, &LeftOut::host) !=
                           wish.left_out.end();
        if (agent.came_after && there && wish.moved.size() < kMostLeftOut)
            wish.moved.push_back(pod);
        if (spares_.contains(incarnation) && wish.spares.size() < kMostSpares)
            wish.spares.push_back(pod);
    }
    std::ranges::sort(wish.moved);
    std::ranges::sort(wish.spares);
    if (!knows_spares_ && wish == Wish{}) return std::nullopt;
    return wish;
}

}  // namespace muster::master
