#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/internal/connect/kubeconfig_merge.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

/// The kubeconfigs to read; earlier ones take precedence.
struct KubeconfigPlaces {
    std::vector<std::string> files;
    bool all = true;       ///< all are read and merged; else only the first that exists
    bool missing = false;  ///< files that do not exist are left out
};

/// The file of `flag` (--kubeconfig), else the list in KUBECONFIG, else ~/.kube/config, else the
/// file that `muster up` of this user wrote. Pure.
KubeconfigPlaces kubeconfig_places(const std::string& flag, const control_plane::Caller& caller);

/// Reads them. kNotFound if there is none.
Result<std::vector<KubeconfigText>> read_kubeconfigs(const KubeconfigPlaces& places);

}  // namespace muster::cli
