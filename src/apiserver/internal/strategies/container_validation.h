#pragma once

#include <boost/json/object.hpp>
#include <set>
#include <string>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// Names within one pod that must be known, or unique.
struct PodNames {
    std::set<std::string, std::less<>> volumes;
    std::set<std::string, std::less<>> claims;  ///< the volumes that may be block devices
    std::set<std::string, std::less<>> containers;
    std::set<std::string, std::less<>> host_ports;
    bool host_network = false;
};

/// Everything that is wrong with one container of a pod with this spec. `field` is its path
/// ("spec.containers[0]").
void check_container(const json::object& container, const json::object& spec, bool init,
                     const std::string& field, PodNames& names, FieldErrors& field_errors);
/// The same for one of spec.ephemeralContainers. `targets`: the names of the pod's other containers.
void check_ephemeral_container(const json::object& container, const json::object& spec,
                               const std::string& field,
                               const std::set<std::string, std::less<>>& targets, PodNames& names,
                               FieldErrors& field_errors);

}  // namespace muster::apiserver
