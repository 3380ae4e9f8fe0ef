#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control_plane/machine.h"
#include "kube/values/quantity.h"
#include "manifest/manifest.h"
#include "manifest/pod_specs.h"

namespace muster::cli {

/// How much of a resource the machine has in all; nullopt if it does not know it.
std::optional<kube::Quantity> offered(const control_plane::Machine& machine,
                                      const std::string& name);

/// What a container asks for of devices and the like and this machine does not have. CPU and memory
/// are made to fit elsewhere (manifest/fit.h).
void check_resources(const manifest::Document& document, const manifest::ContainerRef& ref,
                     const control_plane::Machine& machine,
                     std::vector<manifest::Problem>& problems);

}  // namespace muster::cli
