#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/values/json.h"

namespace muster::apiserver {

/// What the endpoints of a service say of one of its pods.
struct PodEndpoint {
    std::string name;
    std::string uid;
    std::string ip;
    std::string node;
    std::string hostname;  ///< under which the service's domain has it; empty: none
    bool serving = false;
    bool terminating = false;
    json::array ports;  ///< of the service, as they are at the pod

    friend bool operator==(const PodEndpoint&, const PodEndpoint&) = default;
};
/// By the name of the pod.
using PodEndpoints = std::map<std::string, PodEndpoint>;

/// Whether the server makes endpoints for a service: it has a selector, and is no other name of
/// something else. Those of jobs have none: their pods find each other by names alone.
bool has_endpoints(const json::object& service);
/// Nullopt: the pod has ended, or has no address yet.
std::optional<PodEndpoint> pod_endpoint(const json::object& service, const json::object& pod);

// What is made for a service and its pods: the wanted state of objects whose other fields stay.

/// `subsets` of its Endpoints. With more than 1,000 addresses some are left out.
json::array subsets_of(const json::object& service, const PodEndpoints& pods);
/// Its labels there.
json::object endpoints_labels(const json::object& service);
json::object slice_labels(const json::object& service);

/// A slice as it is; `name` empty: it is to be made.
struct Slice {
    std::string name;
    json::object labels;
    json::array ports;
    json::array endpoints;
};
struct SliceChanges {
    std::vector<Slice> written;  ///< new ones, and those that change
    std::vector<std::string> removed;
};
/// What to do so that the slices have these pods, each in the slice in which it is if it can stay.
/// Linear in pods and slices.
SliceChanges slice_changes(const json::object& service, const PodEndpoints& pods,
                           const std::vector<Slice>& slices);

}  // namespace muster::apiserver
