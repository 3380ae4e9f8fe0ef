#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/time/clock.h"
#include "job_protocol/node_check.h"
#include "net/byte_stream.h"

namespace muster::agent {

/// The most bytes in one message; the answering side accepts no more.
inline constexpr std::uint64_t kMostProbed = std::uint64_t{1} << 30;

/// How thoroughly a link is measured.
struct ProbeEffort {
    int pings = 32;
    /// Messages grow until one takes this long; that one counts.
    Duration bulk = std::chrono::milliseconds(40);
    /// The largest message. At most kMostProbed.
    std::uint64_t most = kMostProbed;
};

/// Run by the side that connected: measures the median round trip, and bytes per second in each
/// direction. Errors are those of the stream, which the other side closes if it does not know this
/// check.
Task<Result<job_protocol::LinkFigures>> measure_link(net::ByteStream& stream, Clock& clock,
                                                     std::string secret, ProbeEffort effort);

/// Run by the other side, until the first one closes the stream. `admits` gets the secret and
/// returns when this node is ready to be measured; false if the secret belongs to another check.
/// kBadRequest: the message is not a probe.
Task<Result<void>> answer_probe(net::ByteStream& stream,
                                std::function<Task<bool>(std::string secret)> admits);

}  // namespace muster::agent
