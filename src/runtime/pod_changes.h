#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kube/objects/entrypoints.h"
#include "kube/objects/pod.h"
#include "kube/objects/pod_requests.h"

namespace muster::runtime {

/// What this machine changes in pods before it runs them. Their objects stay as they are written.
struct PodChanges {
    /// Of containers without a command.
    kube::Entrypoints entrypoints = {};
    /// In every container, in place of a variable of that name.
    std::vector<std::pair<std::string, std::string>> env = {};
    /// Where every container starts; empty: where it says.
    std::string working_dir = {};
    /// Requests and limits of these have no effect.
    std::vector<std::string> ignored_resources = {};
    /// CPUs and memory that a pod requests beyond its share of `capacity` are scaled down to it: all of
    /// it, or the Nth part for each of N pods that start together.
    bool scales_requests = false;

    bool empty() const;
};

/// Pure.
void apply(const PodChanges& changes, const kube::Amounts& capacity, kube::Pod& pod);

}  // namespace muster::runtime
