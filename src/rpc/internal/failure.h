#pragma once

#include <muster/rpc/frame.pb.h>

#include "base/error.h"

namespace muster::rpc {

/// Converts an error to its form on the wire, and back. A code of a newer version that the reader
/// does not know becomes kInternal; the message is always kept.
wire::Failure failure_of(const Error& error);
Error error_of(const wire::Failure& failure);

}  // namespace muster::rpc
