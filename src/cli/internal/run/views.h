#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/values/json.h"

namespace muster::cli {

// What `muster run` keeps of the objects that it watches: the fields that it reports.

struct TerminationView {
    int exit_code = 0;
    int signal = 0;  ///< 0: it exited by itself
    std::string reason;
    std::string message;
    std::string memory_limit = {};  ///< of a container that was out of memory; empty: none
    double seconds = 0;             ///< that it ran; 0 if the server does not say

    friend bool operator==(const TerminationView&, const TerminationView&) = default;
};

struct ContainerView {
    std::string name;
    bool init = false;
    bool sidecar = false;  ///< an init container that runs beside the others
    bool main = false;     ///< the one that its job is about
    int restarts = 0;
    bool running = false;
    std::string memory_limit = {};  ///< empty: none
    std::string waiting_reason;
    std::string waiting_message;
    std::optional<TerminationView> terminated;       ///< of the current instance
    std::optional<TerminationView> last_terminated;  ///< of the previous instance

    /// It has failed, and waits before it is started again.
    bool backs_off() const { return waiting_reason == "CrashLoopBackOff"; }

    friend bool operator==(const ContainerView&, const ContainerView&) = default;
};

struct PodView {
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string owner_uid;      ///< of the job that controls it
    std::string replica_type;   ///< as in labels: lower case
    std::string replica_index;  ///< as in labels
    std::string phase;
    std::string reason;
    std::string message;
    std::string restart_policy;
    std::string not_scheduled;  ///< why it has no node: reason and message
    bool scheduled = false;
    bool deleting = false;
    std::vector<ContainerView> containers;  ///< init containers first

    bool finished() const { return phase == "Succeeded" || phase == "Failed"; }
    /// Whether every container (except init containers) runs or has run.
    bool started() const;
    int restarts() const;
    /// Whether a container that has ended is not started again.
    bool stays_ended(const ContainerView& container) const;

    friend bool operator==(const PodView&, const PodView&) = default;
};

struct ConditionView {
    std::string type;
    bool is_true = false;
    std::string reason;
    std::string message;

    friend bool operator==(const ConditionView&, const ConditionView&) = default;
};

struct CountsView {
    int active = 0;
    int succeeded = 0;
    int failed = 0;

    friend bool operator==(const CountsView&, const CountsView&) = default;
};

struct JobView {
    std::string kind;
    std::string namespace_;
    std::string name;
    std::string uid;
    std::vector<ConditionView> conditions;
    std::map<std::string, CountsView> replicas;
    int group_restarts = 0;  ///< how often all of its pods were restarted together

    const ConditionView* true_condition(std::string_view type) const;
    bool succeeded() const { return true_condition("Succeeded") != nullptr; }
    bool failed() const { return true_condition("Failed") != nullptr; }
    bool finished() const { return succeeded() || failed(); }
    CountsView counts() const;

    friend bool operator==(const JobView&, const JobView&) = default;
};

struct EventView {
    std::string namespace_;
    std::string kind;  ///< of its subject
    std::string name;
    std::string uid;
    bool warning = false;
    std::string reason;
    std::string message;
    int count = 1;
    std::string container = {};  ///< of its subject that it is about; may be empty

    friend bool operator==(const EventView&, const EventView&) = default;
};

// Projections for informers; malformed parts give empty fields.
std::optional<PodView> pod_view(const json::value& object);
std::optional<JobView> job_view(const json::value& object);
/// Of a pod: those that `kubectl debug` adds while it runs, which are none of its own.
std::vector<ContainerView> ephemeral_container_views(const json::value& pod);
std::optional<EventView> event_view(const json::value& object);

/// "REASON: MESSAGE", or the one of them that is there.
std::string join_reason(std::string_view reason, std::string_view message);
/// "exited with code 3", "was killed by SIGKILL", with the reason if it adds anything.
std::string describe(const TerminationView& termination);

}  // namespace muster::cli
