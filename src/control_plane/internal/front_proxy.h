#pragma once

#include <string>

#include "base/result.h"
#include "base/time/clock.h"
#include "control_plane/daemon/state_home.h"
#include "net/tls/certificates.h"

namespace muster::control_plane {

/// By what the servers behind APIServices know this one.
struct FrontProxy {
    std::string ca_pem;  ///< of an authority that signed this certificate and no other
    net::KeyPair client;
};

/// Loads it from the directory, or makes it if a part of it is missing, does not belong to the rest,
/// or ends within a month. The authority's key is not kept: whoever has a certificate of it may say
/// to those servers that they are anyone.
Result<FrontProxy> load_front_proxy(const StateHome& home, WallTime now);

}  // namespace muster::control_plane
