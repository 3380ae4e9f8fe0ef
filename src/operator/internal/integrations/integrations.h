#pragma once

#include <cstdint>
#include <vector>

#include "jobs/kind.h"
#include "operator/internal/integrations/gang_members.h"

namespace muster::operators {

/// Objects by which other programs of the cluster look after a job, one of each type and job. Each
/// has the job's name.
enum class PartnerType : std::uint8_t { kVolcano, kSchedulerPlugins, kAutoscaler };

const kube::ResourceType& resource_of(PartnerType type);
/// Whether no pod is made without it.
bool is_pod_group(PartnerType type);

struct PartnerWish {
    PartnerType type = PartnerType::kVolcano;
    bool wanted = false;  ///< false: one that is there is of an earlier state of the job

    friend bool operator==(const PartnerWish&, const PartnerWish&) = default;
};

struct PartnerWishes {
    std::vector<PartnerWish> objects;  ///< a pod group first
    /// The values of PriorityClasses are read before a pod is made.
    bool reads_priorities = false;

    friend bool operator==(const PartnerWishes&, const PartnerWishes&) = default;
};

/// Of a defaulted job that is neither finished nor suspended.
PartnerWishes partner_wishes(const jobs::Job& job);

/// The object that a job wants.
jobs::OwnedObject partner_object(const jobs::Job& job, PartnerType type,
                                 const Priorities& priorities);

/// Hands a pod of the job to the gang scheduler, if it has one; a schedulerName that the template
/// gives stays.
void mark_for_partner(const jobs::Job& job, const jobs::ReplicaId& replica,
                      const Priorities& priorities, kube::Pod& pod);

}  // namespace muster::operators
