#pragma once

#include <memory>
#include <string>

#include "net/byte_stream.h"

namespace muster::net {

/// `stream`, with `prefix` read before its own input: bytes that were read too far.
std::unique_ptr<ByteStream> make_prefixed_stream(std::string prefix,
                                                 std::unique_ptr<ByteStream> stream);

}  // namespace muster::net
