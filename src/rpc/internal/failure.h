#pragma once

#include <muster/rpc/frame.pb.h>

#include "base/error.h"

namespace muster::rpc {

/// An error as it goes over the wire, and back. What a reader does not know of a newer version is
/// kInternal with the same message; nothing of it is lost for people.
wire::Failure failure_of(const Error& error);
Error error_of(const wire::Failure& failure);

}  // namespace muster::rpc
