#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client_config/merged_kubeconfig.h"

namespace muster::cli {

/// A kubeconfig as it was read.
struct KubeconfigText {
    std::string file;
    std::string text;
};

/// The first file that has an entry of a name wins, whole, as with other clients. Pure. kInvalid
/// says which file, which field and what to do.
Result<kube::MergedKubeconfig> merge_kubeconfigs(const std::vector<KubeconfigText>& texts);

}  // namespace muster::cli
