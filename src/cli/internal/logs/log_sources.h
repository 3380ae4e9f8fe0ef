#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/internal/run/views.h"
#include "kube/values/json.h"

namespace muster::cli {

/// A pod that may have logs.
struct LogPod {
    PodView view;
    std::string job;          ///< the job that it belongs to; may be empty
    int index = 0;            ///< among those of its replica type
    std::optional<int> rank;  ///< what its containers were told; unset if they were not
    /// Found by their names alone.
    std::vector<ContainerView> ephemeral = {};

    /// Its own containers and the others, with that name; null if it has none.
    const ContainerView* container(std::string_view name) const;
};

/// Pure; malformed parts give empty fields.
LogPod log_pod(const json::value& object);

/// The order of ranks: a type that leads the others first, then by type and index.
bool comes_before(const LogPod& a, const LogPod& b);

/// Which of a job's logs to show.
struct LogChoice {
    std::optional<int> rank;
    std::string replica;    ///< in any case of letters; empty: all
    std::string container;  ///< empty: all but init containers
};

/// A container's log of a pod, by the instances that have run so far.
struct LogSource {
    std::string namespace_;
    std::string pod;
    std::string pod_uid;
    std::string container;
    std::string shown;  ///< "digits-worker-0", with its container where it has several
    int started = 0;    ///< instances that have started

    friend bool operator==(const LogSource&, const LogSource&) = default;
};

/// The chosen containers of `pods`, by replica type and index. `rank` counts over all types: as the
/// containers were told, else the master first and then the others in order. Pure.
std::vector<LogSource> choose_sources(std::vector<LogPod> pods, const LogChoice& choice);

/// Why no program of the chosen containers has ever started; empty if one has. Pure.
std::string why_none_started(const std::vector<LogPod>& pods, const LogChoice& choice);

/// Why nothing is chosen: "no replica of type ps; there are master, worker". Pure.
std::string nothing_chosen(const std::vector<LogPod>& pods, const LogChoice& choice);

}  // namespace muster::cli
