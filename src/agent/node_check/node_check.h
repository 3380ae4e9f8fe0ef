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

/// The check of this node, as its master orders it: its processor and memory first, then the links
/// to the peers that it is to connect to; and the answers to probes of others, which wait until it
/// has measured itself, so that neither disturbs the other.
///
/// Everything that is not there within the order's limit is reported as that. A peer that brings
/// another secret than that of the newest order waits for the order that it belongs to.
///
/// stop(), then destroy. Clock outlives it. Thread: the loop.
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

    /// Answers probes that come there, until end_answers() or stop().
    void serve(std::unique_ptr<net::Listener> listener);
    /// While another one runs the newer one's secret counts.
    Task<job_protocol::CheckResult> run(job_protocol::Check check);
    /// No check comes any more: something runs on this node.
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
