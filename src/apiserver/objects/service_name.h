#pragma once

#include <string>

namespace muster::apiserver {

/// A service of the cluster.
struct ServiceName {
    std::string namespace_;
    std::string name;

    friend bool operator==(const ServiceName&, const ServiceName&) = default;
};

}  // namespace muster::apiserver
