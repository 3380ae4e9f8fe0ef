#pragma once

#include <memory>
#include <string>

#include "apiserver/webhook_caller.h"
#include "base/async/async.h"
#include "base/result.h"
#include "net/byte_stream.h"
#include "net/name_lookup.h"

namespace muster::control_plane {

/// A connection to the first address of a name that takes one. `names` outlives it.
Task<Result<std::unique_ptr<net::ByteStream>>> dial_tcp(asio::any_io_executor executor,
                                                        net::NameLookup& names,
                                                        apiserver::NetworkPort to);

}  // namespace muster::control_plane
