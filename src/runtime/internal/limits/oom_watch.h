#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "runtime/internal/limits/oom_notices.h"
#include "runtime/internal/limits/pod_isolation.h"

namespace muster::runtime {

/// Reports when the kernel has killed processes of a pod's containers because memory ran out: at
/// once, and not only when the container ends, which may survive them (a rank of mpirun, a worker
/// that loads data). Where the kernel gives no notice, when it ends. Thread: the loop.
class OomWatch {
  public:
    /// `report` gets the index of the container. All of these outlive it, and `tasks` is stopped
    /// before.
    OomWatch(PodIsolation& isolation, TaskGroup& tasks, Clock& clock,
             std::function<void(std::size_t container)> report);
    ~OomWatch();
    OomWatch(const OomWatch&) = delete;
    OomWatch& operator=(const OomWatch&) = delete;

    /// An instance of the container has entered its groups.
    void begin(std::size_t container, std::uint32_t instance);
    /// It is about to leave them: reports what was not reported.
    void end(std::uint32_t instance);
    /// So are all.
    void end_all();

    /// A container of any pod has failed. If the kernel has killed processes meanwhile, those are
    /// reported of which it gave no notice, in whichever pod they were. True if that could not be
    /// found out for this instance, as it has no group.
    bool unexplained_kill(std::uint32_t instance);

  private:
    struct Watched {
        std::size_t container = 0;
        std::int64_t reported = 0;            ///< kills
        std::shared_ptr<OomNotices> notices;  ///< null: the kernel gives none
    };

    void look();
    Task<void> watch(std::uint32_t instance, std::shared_ptr<OomNotices> notices);
    /// Whether there was anything to report.
    bool report_new(std::uint32_t instance);

    PodIsolation& isolation_;
    TaskGroup& tasks_;
    Clock& clock_;
    std::function<void(std::size_t container)> report_;
    std::map<std::uint32_t, Watched> watched_;  ///< by instance
};

}  // namespace muster::runtime
