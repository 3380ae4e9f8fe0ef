#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "agent/node_check/compute_probe.h"
#include "agent/node_check/link_probe.h"
#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "job_protocol/node_check.h"
#include "net/byte_stream.h"

namespace muster::agent {

/// The check of this node, as its master orders it: first measures processor and memory, then the
/// links to the peers in the order. Also answers probes of other nodes, but only after measuring
/// this one, so that the two do not disturb each other.
///
/// A measurement that does not finish within the order's limit is reported as failed. A peer whose
/// secret differs from that of the newest order waits for the order that it belongs to.
///
/// Stop order: stop(), then destroy. The clock must outlive it. Thread: the loop.
class NodeCheck {
  public:
    struct Parts {
        std::function<Task<Result<std::unique_ptr<net::ByteStream>>>(std::string address,
                                                                     std::uint16_t port)>
            connect;
        std::function<Task<Result<ComputeFigures>>()> compute;
        ProbeEffort quick = {};
        ProbeEffort thorough = {.pings = 500, .bulk = std::chrono::milliseconds(200)};
    };

    NodeCheck(asio::any_io_executor executor, Clock& clock, Parts parts);
    ~NodeCheck();

    /// Answers probes on this listener until end_answers() or stop().
    void serve(std::unique_ptr<net::Listener> listener);
    /// If another check is running, the newer one's secret counts.
    Task<job_protocol::CheckResult> run(job_protocol::Check check);
    /// Answers no more probes: workers run on this node now.
    void end_answers();
    Task<void> stop();

  private:
    Task<void> answer(std::unique_ptr<net::ByteStream> stream);
    Task<Result<void>> converse(net::ByteStream& stream);
    Task<bool> admits(std::string secret);
    Task<job_protocol::LinkFigures> look_at(const job_protocol::CheckPeer& peer,
                                            const job_protocol::Check& check, Duration limit);
    Task<Result<job_protocol::LinkFigures>> measure(const job_protocol::CheckPeer& peer,
                                                    const job_protocol::Check& check);

    asio::any_io_executor executor_;
    Clock& clock_;
    Parts parts_;
    std::unique_ptr<net::Listener> listener_;
    std::string secret_;
    bool has_measured_ = false;
    Signal changed_;
    TaskGroup tasks_;
};

}  // namespace muster::agent
