#include "sim/history.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <cstring>

#include "jobs/kind.h"
#include "sim/internal/json_view.h"

namespace muster::sim {

namespace {

using Detail = HistoryLine::Detail;

std::uint64_t mix(std::uint64_t hash, std::string_view bytes) {
    // Eight bytes at a step: content is most of what is hashed.
    while (bytes.size() >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), 8);
        hash = (hash ^ word) * 0x9fb21c651e98df25ULL;
        hash ^= hash >> 29;
        bytes.remove_prefix(8);
    }
    for (const char byte : bytes)
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
    return hash ^ (hash >> 32);
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t number) {
    hash = (hash ^ number) * 0x9fb21c651e98df25ULL;
    return hash ^ (hash >> 29);
}

/// "Running 2 restarts, deleting": a pod in a word or two.
std::string pod_state(const json::value& pod) {
    std::string text(text_at(pod, {"status", "phase"}));
    if (const std::string_view reason = text_at(pod, {"status", "reason"}); !reason.empty())
        text += fmt::format(" ({})", reason);
    const json::value* statuses = find_at(pod, {"status", "containerStatuses"});
    if (statuses != nullptr && statuses->is_array() && !statuses->get_array().empty()) {
        const json::value& first = statuses->get_array().front();
        if (find_at(first, {"state", "terminated"}) != nullptr)
            text +=
                fmt::format(" (exit {})", number_at(first, {"state", "terminated", "exitCode"}));
        if (const auto why = text_at(first, {"state", "waiting", "reason"}); !why.empty())
            text += fmt::format(" ({})", why);
    }
    if (const std::int64_t restarts = restarts_of(pod); restarts > 0)
        text += fmt::format(", {} restart{}", restarts, restarts == 1 ? "" : "s");
    if (deleting(pod)) text += ", being deleted";
    return text;
}

std::map<std::string, std::string> conditions_of(const json::value* object) {
    std::map<std::string, std::string> made;
    const json::value* list =
        object == nullptr ? nullptr : find_at(*object, {"status", "conditions"});
    if (list == nullptr || !list->is_array()) return made;
    for (const json::value& condition : list->get_array())
        made[std::string(text_at(condition, {"type"}))] =
            fmt::format("{}|{}: {}", text_at(condition, {"status"}), text_at(condition, {"reason"}),
                        text_at(condition, {"message"}));
    return made;
}

/// Most worlds have one namespace, whose name would only be in the way.
std::string name_of(const store::StoreKey& key) {
    return key.namespace_ == "default" ? key.name : key.namespace_ + "/" + key.name;
}

bool is_job(const store::StoreKey& key) { return jobs::is_job_resource(key.resource); }

}  // namespace

std::string to_string(const HistoryLine& line) {
    const double seconds = std::chrono::duration<double>(line.at.time_since_epoch()).count();
    return fmt::format("{:12.3f}s  {:<12} {}", seconds, line.who, line.what);
}

void History::change(Instant now, std::string_view who, const store::StoreChange& change) {
    ++changes_;
    hash_ = mix(hash_, static_cast<std::uint64_t>(now.time_since_epoch().count()));
    hash_ = mix(hash_, change.key.resource);
    hash_ = mix(hash_, change.key.namespace_);
    hash_ = mix(hash_, change.key.name);
    hash_ = mix(hash_, change.revision);
    if (change.object != nullptr) hash_ = mix(hash_, json::serialize(*change.object));
    if (sink_) tell(now, who, change);
}

void History::note(Instant now, Detail detail, std::string who, std::string what) {
    if (sink_) sink_({now, detail, std::move(who), std::move(what)});
}

void History::happened(Instant now, std::string who, std::string what) {
    hash_ = mix(hash_, static_cast<std::uint64_t>(now.time_since_epoch().count()));
    hash_ = mix(hash_, who);
    hash_ = mix(hash_, what);
    note(now, Detail::kTrace, std::move(who), std::move(what));
}

void History::tell(Instant now, std::string_view who, const store::StoreChange& change) {
    HistoryLine line{now, Detail::kTrace, std::string(who.empty() ? "api" : who), {}};
    if (change.key.resource == "pods") return tell_pod(std::move(line), change);
    if (is_job(change.key)) return tell_job(std::move(line), change);
    if (change.key.resource == "events" && change.object != nullptr) {
        line.what = fmt::format(
            "event about {}: {}: {}", text_at(*change.object, {"involvedObject", "name"}),
            text_at(*change.object, {"reason"}), text_at(*change.object, {"message"}));
    } else {
        line.what =
            fmt::format("{} {}/{} {}", change.key.resource, change.key.namespace_, change.key.name,
                        change.object == nullptr     ? "removed"
                        : change.previous == nullptr ? "created"
                                                     : "changed");
    }
    sink_(line);
}

void History::tell_pod(HistoryLine line, const store::StoreChange& change) {
    const std::string name = name_of(change.key);
    if (change.object == nullptr) {
        line.what = fmt::format("pod {} removed", name);
        return sink_(line);
    }
    const json::value& pod = *change.object;
    if (change.previous == nullptr) {
        const bool again = ++pods_made_[{change.key.namespace_, change.key.name}] > 1;
        line.detail = again ? Detail::kTimeline : Detail::kTrace;
        line.what = fmt::format("pod {} {}", name, again ? "created again" : "created");
        return sink_(line);
    }
    const json::value& before = *change.previous;
    const std::string_view node = text_at(pod, {"spec", "nodeName"});
    const std::string was = pod_state(before);
    const std::string is = pod_state(pod);
    if (was != is) {
        const bool told =
            text_at(before, {"status", "phase"}) != text_at(pod, {"status", "phase"}) ||
            restarts_of(before) != restarts_of(pod);
        line.detail = told ? Detail::kTimeline : Detail::kTrace;
        line.what =
            fmt::format("pod {}: {} -> {}{}{}", name, was, is, node.empty() ? "" : " on ", node);
    } else if (text_at(before, {"spec", "nodeName"}) != node) {
        line.what = fmt::format("pod {} bound to {}", name, node);
    } else {
        line.what = fmt::format("pod {} changed", name);
    }
    sink_(line);
}

void History::tell_job(HistoryLine line, const store::StoreChange& change) {
    const std::string name = fmt::format(
        "{} {}", change.key.resource.substr(0, change.key.resource.find('.')), name_of(change.key));
    if (change.object == nullptr || change.previous == nullptr) {
        line.detail = Detail::kTimeline;
        line.what = fmt::format("{} {}", name, change.object == nullptr ? "removed" : "created");
        return sink_(line);
    }
    const auto before = conditions_of(change.previous.get());
    bool told = false;
    for (const auto& [type, state] : conditions_of(change.object.get())) {
        auto old = before.find(type);
        if (old != before.end() && old->second == state) continue;
        told = true;
        line.detail = Detail::kTimeline;
        const std::size_t bar = state.find('|');
        line.what = fmt::format("{} {}{} ({})", name, state.starts_with("True") ? "" : "no longer ",
                                type, state.substr(bar + 1));
        sink_(line);
    }
    if (told) return;
    const json::value* status = find_at(*change.object, {"status", "replicaStatuses"});
    line.what = fmt::format("{} changed{}{}", name, status == nullptr ? "" : ": ",
                            status == nullptr ? "" : json::serialize(*status));
    sink_(line);
}

}  // namespace muster::sim
