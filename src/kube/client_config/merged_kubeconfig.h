#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <vector>

#include "kube/values/json.h"

namespace muster::kube {

/// A cluster, user or context, and the file that it comes from, to which its paths are relative.
struct KubeconfigEntry {
    std::string file;
    json::object fields;
};

/// Several kubeconfigs merged into one.
struct MergedKubeconfig {
    std::vector<std::string> files;
    std::string current_context;  ///< of the first file that has one
    std::map<std::string, KubeconfigEntry> clusters;
    std::map<std::string, KubeconfigEntry> users;
    std::map<std::string, KubeconfigEntry> contexts;
};

}  // namespace muster::kube
