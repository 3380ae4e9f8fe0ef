#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/volume_places.h"
#include "kube/objects/selector.h"
#include "kube/values/namespaced_name.h"
#include "kube/values/quantity.h"

namespace muster::apiserver {

using kube::NamespacedName;

/// By whom a volume or a class is provided, as their objects name it.
inline constexpr const char* kDirectoryProvisioner = "muster.dev/directory";
/// The class of claims that name none.
inline constexpr const char* kDirectoryClass = "directory";

/// What binding needs to know of a PersistentVolume.
struct VolumeFacts {
    std::string name;
    std::string class_name;
    std::string mode;
    std::string phase;
    std::vector<std::string> access_modes;
    kube::Quantity capacity;
    json::object labels;
    std::optional<NamespacedName> claim;  ///< that it is bound to, or kept for
    std::string claim_uid;                ///< empty: of any claim with that name
    bool ours = false;                    ///< made for a claim
    bool of_claim_alone = false;          ///< deleted with its claim: persistentVolumeReclaimPolicy
    bool deleting = false;
};
VolumeFacts volume_facts(const json::object& volume);

/// And of a PersistentVolumeClaim.
struct ClaimFacts {
    std::string uid;
    std::string phase;
    std::string mode;
    std::string volume_name;                ///< the volume that it asks for, or has
    std::optional<std::string> class_name;  ///< unset: the default class; empty: of no class
    std::vector<std::string> access_modes;
    kube::Quantity request;
    kube::LabelSelector selector;
    bool of_pod = false;  ///< made for an ephemeral volume
    bool deleting = false;
};
ClaimFacts claim_facts(const json::object& claim);

/// And of a StorageClass.
struct ClassFacts {
    bool is_default = false;
    bool provides = true;  ///< claims of it may get a directory
    bool keeps = true;     ///< which outlives the claim: reclaimPolicy
};
ClassFacts class_facts(const json::object& storage_class);

/// Whether the claim may take a volume that is not kept for another.
bool suits(const VolumeFacts& volume, const ClaimFacts& claim, const std::string& class_name);

/// The phase of a volume. `claim_uid`: of the claim that its claimRef names; empty: there is none.
std::string phase_of(const VolumeFacts& volume, const std::string& claim_uid);

/// The directory of a claim. `uid`: of a claim whose directory goes with it; else empty.
std::string directory_of(const NamespacedName& claim, const std::string& uid,
                         const VolumePlaces& places);
/// Whether a flag says where it is.
bool is_placed(const NamespacedName& claim, const VolumePlaces& places);

}  // namespace muster::apiserver
