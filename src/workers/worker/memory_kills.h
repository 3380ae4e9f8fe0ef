#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::workers {

/// Tells SIGKILL by the kernel's OOM killer from any other. The kernel counts its kills per cgroup
/// or for the whole machine, but does not say which processes they hit: as many workers that died
/// of SIGKILL are attributed to it as the count has risen by.
class MemoryKills {
  public:
    /// The first readable one of `files` is used: memory.events or memory.oom_control of a cgroup,
    /// or /proc/vmstat.
    explicit MemoryKills(std::vector<std::string> files);
    /// Uses the cgroups of this process, or the whole machine if no cgroup counts.
    static MemoryKills of_this_process();

    /// A set begins: ignore all kills so far.
    void begin();
    /// A worker of the set died of SIGKILL: returns whether it was for memory.
    bool take_one();

  private:
    std::int64_t count() const;

    std::vector<std::string> files_;
    std::int64_t seen_ = 0;
};

}  // namespace muster::workers
