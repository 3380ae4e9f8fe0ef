#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/time/clock.h"
#include "kube/values/namespaced_name.h"
#include "store/store.h"

namespace muster::sim {

struct HistoryLine {
    enum class Detail {
        kTimeline,  ///< what a user follows: jobs, pods that start and end, faults of nodes
        kTrace,     ///< everything else
    };

    Instant at;  ///< virtual; the world begins at zero
    Detail detail = Detail::kTrace;
    std::string who;  ///< "operator-1", "nodes", "user", "api", "fault"
    std::string what;
};

/// "     12.345s operator-1  what": a line as people read it.
std::string to_string(const HistoryLine& line);

/// What happened in a world, as lines for people and as one number over all of it. Thread: one
/// loop.
class History {
  public:
    using Sink = std::function<void(const HistoryLine&)>;

    /// Without a sink no lines are made.
    explicit History(Sink sink) : sink_(std::move(sink)) {}

    void change(Instant now, std::string_view who, const store::StoreChange& change);
    void note(Instant now, HistoryLine::Detail detail, std::string who, std::string what);
    /// Something of which the API is told nothing; the hash knows of it.
    void happened(Instant now, std::string who, std::string what);

    /// Over every change: time, key, revision, content; and over all else that happened.
    std::uint64_t hash() const { return hash_; }
    std::uint64_t changes() const { return changes_; }

  private:
    void tell(Instant now, std::string_view who, const store::StoreChange& change);
    void tell_pod(HistoryLine line, const store::StoreChange& change);
    void tell_job(HistoryLine line, const store::StoreChange& change);

    Sink sink_;
    std::uint64_t hash_ = 0xcbf29ce484222325ULL;
    std::uint64_t changes_ = 0;
    std::map<kube::NamespacedName, int> pods_made_;  ///< a second one replaces the first
};

}  // namespace muster::sim
