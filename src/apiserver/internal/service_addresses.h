#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "apiserver/internal/causes.h"
#include "apiserver/store.h"

namespace muster::apiserver {

/// Cluster IPs of services, from 10.96.0.0/12. Nothing routes them here; objects carry them because
/// clients expect to see one. Addresses are handed out in order, so that two requests under way
/// never get the same one.
class ServiceAddresses {
  public:
    /// Fills spec.clusterIP and clusterIPs of a new service.
    void assign(json::object& service, Causes& causes);
    /// Follows the committed services.
    void observe(const StoreChange& change);

  private:
    std::map<std::string, StoreKey, std::less<>> holders_;
    std::uint32_t next_ = 1;
};

}  // namespace muster::apiserver
