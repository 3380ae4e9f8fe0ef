#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/time/clock.h"
#include "job_protocol/node_check.h"
#include "net/byte_stream.h"

namespace muster::agent {

/// In one piece; the answering side takes no more.
inline constexpr std::uint64_t kMostProbed = std::uint64_t{1} << 30;

/// How long a link is looked at.
struct ProbeEffort {
    int pings = 32;
    /// Bytes are sent in ever larger pieces until one takes so long; that one counts.
    Duration bulk = std::chrono::milliseconds(40);
    /// Never in larger ones. Not above kMostProbed.
    std::uint64_t most = kMostProbed;
};

/// By the side that connected: the median round trip, and bytes a second in each direction. Errors
/// are those of the stream, which the other side ends when it knows no such check.
Task<Result<job_protocol::LinkFigures>> measure_link(net::ByteStream& stream, Clock& clock,
                                                     std::string secret, ProbeEffort effort);

/// By the other side, until the first one ends the stream. `admits` gets the secret, and returns
/// when this node is ready to be measured; false: it is not that check's. kBadRequest: what comes
/// is no probe.
Task<Result<void>> answer_probe(net::ByteStream& stream,
                                std::function<Task<bool>(std::string secret)> admits);

}  // namespace muster::agent
