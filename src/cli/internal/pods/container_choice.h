#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/internal/logs/log_sources.h"

namespace muster::cli {

/// A pod in whose containers something may be done.
struct ReachablePod {
    LogPod pod;
    std::string default_container;  ///< by its annotation; may be empty
};
ReachablePod reachable_pod(const json::value& object);

struct ContainerChoice {
    std::string replica = {};  ///< "worker-1", its type, or a pod's name; empty: any
    std::optional<int> rank = {};
    std::string container =
        {};  ///< empty: the one that its job or its annotation names, else the first
};

/// A container that runs.
struct ChosenContainer {
    std::string namespace_;
    std::string pod;
    std::string container;
    /// What to say of the choice: that there were others. Empty if there were none, or it was made
    /// by name.
    std::string note;

    friend bool operator==(const ChosenContainer&, const ChosenContainer&) = default;
};

/// The first that matches, in the order of ranks, of the pods of `subject`. Pure. The error says
/// which there are, or why the one that is meant does not run.
Result<ChosenContainer> choose_container(std::vector<ReachablePod> pods,
                                         const ContainerChoice& choice, std::string_view subject);

}  // namespace muster::cli
