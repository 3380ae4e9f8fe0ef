#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client_config/merged_kubeconfig.h"

namespace muster::cli {

/// The content of a kubeconfig file.
struct KubeconfigText {
    std::string file;
    std::string text;
};

/// If several files have an entry of the same name, the first one wins as a whole, as in other
/// clients. Pure. kInvalid says which file, which field and what to do.
Result<kube::MergedKubeconfig> merge_kubeconfigs(const std::vector<KubeconfigText>& texts);

}  // namespace muster::cli
