#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/json.h"

namespace muster::cli {

/// A kubeconfig as it was read.
struct KubeconfigText {
    std::string file;
    std::string text;
};

/// A cluster, user or context, and the file that it is from, to which its paths are relative.
struct KubeconfigEntry {
    std::string file;
    json::object fields;
};

/// Several kubeconfigs as one.
struct MergedKubeconfig {
    std::vector<std::string> files;
    std::string current_context;  ///< of the first file that has one
    std::map<std::string, KubeconfigEntry> clusters;
    std::map<std::string, KubeconfigEntry> users;
    std::map<std::string, KubeconfigEntry> contexts;
};

/// The first file that has an entry of a name wins, whole, as with other clients. Pure. kInvalid
/// says which file, which field and what to do.
Result<MergedKubeconfig> merge_kubeconfigs(const std::vector<KubeconfigText>& texts);

}  // namespace muster::cli
