#pragma once

#include <sys/types.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/result.h"
#include "runtime/internal/network/pod_network.h"

namespace muster::runtime {

/// The way from the pods' network to the outside: a tap device of the pods' router with a `pasta`
/// process on it, which turns outgoing traffic into ordinary sockets of this machine's network, and
/// masquerade, as pasta answers to one address. Owns the process: the destructor kills it, and so
/// does the kernel when this process ends. It leaves no file.
///
/// Pods reach what this machine reaches, including its own addresses, but not its loopback.
///
/// Thread: the loop, which must be the process's main thread.
class Egress {
  public:
    /// Stands for the machine's first name server, where pods can't reach that itself.
    static constexpr std::uint32_t kNameForwarder = 0xA9FE0135;  // 169.254.1.53

    /// Does not wait until pasta is ready: packets that pods send until then wait in the router. An
    /// error says what is missing and what to do about it; the outside then stays refused
    /// immediately. `fabric` must outlive the object. `environment` is pasta's, and pasta is looked
    /// up in its PATH; with `forward_names` kNameForwarder answers (and then that server must not
    /// be asked itself).
    static Result<std::unique_ptr<Egress>> open(asio::any_io_executor executor, PodFabric& fabric,
                                                const std::vector<std::string>& environment,
                                                bool forward_names);
    ~Egress();
    Egress(const Egress&) = delete;
    Egress& operator=(const Egress&) = delete;

    /// Returns only if pasta ends by itself, with its output. From then on the outside is refused
    /// immediately.
    Task<std::string> ended();

    pid_t process() const { return process_; }

  private:
    Egress(asio::any_io_executor executor, PodFabric& fabric, pid_t process, UniqueFd pidfd,
           UniqueFd errors);

    PodFabric& fabric_;
    pid_t process_;
    asio::posix::stream_descriptor pidfd_;
    UniqueFd errors_;
};

}  // namespace muster::runtime
