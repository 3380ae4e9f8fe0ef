#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::workers {

/// Tells a SIGKILL of the kernel, for want of memory, from another. The kernel counts its own, for
/// a group of processes or for the whole machine, and names nobody: as many workers that die by
/// SIGKILL were killed so as the count has risen by.
class MemoryKills {
  public:
    /// The first of `files` that can be read is the count: memory.events or memory.oom_control of a
    /// group, or /proc/vmstat.
    explicit MemoryKills(std::vector<std::string> files);
    /// For the processes of this one's groups, and for the machine where no group counts.
    static MemoryKills of_this_process();

    /// A set begins: what was before is no worker's.
    void begin();
    /// One of its workers died of SIGKILL.
    bool take_one();

  private:
    std::int64_t count() const;

    std::vector<std::string> files_;
    std::int64_t seen_ = 0;
};

}  // namespace muster::workers
