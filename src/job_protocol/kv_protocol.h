#pragma once

#include <muster/kv_store.pb.h>

#include "base/result.h"
#include "job_protocol/kv_requests.h"
#include "rpc/method.h"

namespace muster::job_protocol {

// How agents ask their master for keys. A call that waits for something is answered when it is
// there.

/// May be sent again to another master: that one refuses what was not meant for it.
inline constexpr rpc::Call<job::KvRequest, job::KvAnswer> kKv{"keys", rpc::Repeat::kFreely};

// To and from the wire. kBadRequest: it asks for nothing that this version knows.

job::KvRequest to_wire(const KvRequest& request);
Result<KvRequest> from_wire(const job::KvRequest& request);
job::KvAnswer to_wire(const KvAnswer& answer);
KvAnswer from_wire(const job::KvAnswer& answer);

}  // namespace muster::job_protocol
