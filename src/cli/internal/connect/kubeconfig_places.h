#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/internal/connect/kubeconfig_merge.h"
#include "control_plane/caller.h"

namespace muster::cli {

/// Which kubeconfigs there are to read, the first ones going before the later ones.
struct KubeconfigPlaces {
    std::vector<std::string> files;
    bool all = true;       ///< they are read together; else the first that exists is
    bool missing = false;  ///< those that do not exist are left out
};

/// What `flag` (--kubeconfig) names, else the list in KUBECONFIG, else ~/.kube/config, else what
/// `muster up` of this user wrote. Pure.
KubeconfigPlaces kubeconfig_places(const std::string& flag, const control_plane::Caller& caller);

/// Reads them. kNotFound when there is none.
Result<std::vector<KubeconfigText>> read_kubeconfigs(const KubeconfigPlaces& places);

}  // namespace muster::cli
