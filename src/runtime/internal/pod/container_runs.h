#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/internal/pod/container_run.h"
#include "runtime/internal/run_id.h"

namespace muster::runtime {

/// The instances of a pod's containers that are still of interest: for each container the newest,
/// and its predecessor, whose log `--previous` shows. Thread: the loop.
class ContainerRuns {
  public:
    explicit ContainerRuns(std::size_t containers) : containers_(containers) {}

    /// One more, with the highest index.
    void add_container() { containers_.emplace_back(); }
    std::size_t containers() const { return containers_.size(); }
    /// Null if there is none.
    ContainerRun* newest(std::size_t container) const;
    ContainerRun* previous(std::size_t container) const;
    /// By its number in the pod's init; null if there is none (any more).
    ContainerRun* find(std::uint32_t id) const;

    /// The id of the container's next start.
    RunId next(std::size_t container) const;
    /// Counts as a start. Removes the logs of instances that are no longer of interest.
    void add(std::unique_ptr<ContainerRun> run);
    /// The container was started at least this often in the pod's life.
    void count(std::size_t container, std::uint32_t launches);
    /// Nothing of the pod runs any more.
    void finish_all();

  private:
    struct Container {
        std::vector<std::unique_ptr<ContainerRun>> runs;  ///< oldest first
        std::uint32_t launches = 0;
    };
    std::vector<Container> containers_;
};

}  // namespace muster::runtime
