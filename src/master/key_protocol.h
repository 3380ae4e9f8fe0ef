#pragma once

#include <muster/keys.pb.h>

#include "base/result.h"
#include "master/keys.h"
#include "rpc/method.h"

namespace muster::master {

// How agents ask their master for keys. A call that waits for something is answered when it is
// there.

/// May be sent again to another master: that one refuses what was not meant for it.
inline constexpr rpc::Call<job::KeyRequest, job::KeyAnswer> kKeys{"keys", rpc::Repeat::kFreely};

// To and from the wire. kBadRequest: it asks for nothing that this version knows.

job::KeyRequest to_wire(const KeyRequest& request);
Result<KeyRequest> from_wire(const job::KeyRequest& request);
job::KeyAnswer to_wire(const KeyAnswer& answer);
KeyAnswer from_wire(const job::KeyAnswer& answer);

}  // namespace muster::master
