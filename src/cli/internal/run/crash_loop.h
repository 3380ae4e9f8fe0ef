#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cli/internal/run/views.h"

namespace muster::cli {

/// A container that ends in the same way each time that it is started.
struct CrashLoop {
    std::string pod;
    std::string container;
    TerminationView end;
    int times = 0;
    double seconds = 0;  ///< that it ran at most
};

/// Finds restarts that lead nowhere: the same failure of the same container of the same replica,
/// again and again without progress. A container that ran for ten minutes has made some (kubelet
/// then forgets its back-off, too), and so has one that ended differently. Pure.
class CrashLoops {
  public:
    /// One end of a container that failed, in order of time.
    void note(const PodView& pod, const std::string& container, const TerminationView& end);

    /// The first container that has failed so often in a row.
    std::optional<CrashLoop> find(int times) const;

  private:
    using Where =
        std::pair<std::string, std::string>;  ///< namespace/pod, whatever its uid, container

    std::map<Where, CrashLoop> loops_;
    std::optional<CrashLoop> longest_;
};

}  // namespace muster::cli
