#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "jobs/job.h"
#include "kube/objects/pod_requests.h"

namespace muster::operators {

/// The cluster's PriorityClasses.
struct Priorities {
    std::map<std::string, std::int32_t> values;
    std::int32_t of_others = 0;  ///< of pods that name no class: that of the default class

    /// 0 for a class that does not exist.
    std::int32_t of(const std::string& class_name) const;
};

/// Whether the values of PriorityClasses decide which pods the gang consists of.
bool depends_on_priorities(const jobs::Job& job);

struct GangMembers {
    std::string type;  ///< canonical
    std::int32_t count = 0;

    friend bool operator==(const GangMembers&, const GangMembers&) = default;
};

/// The `size` pods that a job starts with: those of the types with the highest priority first, and
/// at equal priority in the kind's order. (training-operator
/// pkg/controller.v1/common/scheduling.go, where equal ones come in the order of a map and the
/// classes are never found, issue 1825.)
std::vector<GangMembers> gang_members(const jobs::Job& job, std::int32_t size,
                                      const Priorities& priorities);

/// What they need together, or schedulingPolicy.minResources if given.
kube::Amounts min_resources(const jobs::Job& job, const Priorities& priorities);

}  // namespace muster::operators
