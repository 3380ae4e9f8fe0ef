#pragma once

#include <memory>
#include <string>

#include "base/async/async.h"
#include "base/result.h"
#include "kube/client/client.h"
#include "kube/objects/command_session.h"
#include "kube/objects/usage.h"
#include "kube/transport/transport.h"
#include "net/byte_stream.h"

namespace muster::apiserver {

/// What the API asks of the node that runs a pod. The composition root connects it to a runtime, so
/// that neither folder includes the other.
class NodeApi {
  public:
    virtual ~NodeApi() = default;

    /// The log of one container, as whole pieces of text with `options` applied; the options are
    /// such as the API lets pass, and `options.container` is set. kNotFound for a pod that the node
    /// does not have, kBadRequest with kubectl's wording for a container that is not in the pod,
    /// has not started, or has no run before the present one when that is asked for.
    virtual Task<Result<std::unique_ptr<kube::TextStream>>> logs(std::string namespace_,
                                                                 std::string pod,
                                                                 kube::LogOptions options) = 0;

    /// Starts a command in a container that runs, or, without a command, attaches to its own
    /// program: to what it writes from now on, and to its input if it has one. `options` are such
    /// as the API lets pass, with the container set and at least one stream. kNotFound for a pod
    /// that the node does not have, kBadRequest with kubectl's wording for a container that does
    /// not run. What keeps the command from starting is the end of its session.
    virtual Task<Result<std::unique_ptr<kube::CommandSession>>> exec(
        std::string namespace_, std::string pod, kube::CommandOptions options) = 0;

    /// Connects to a port of a pod that runs, as a program inside would that asks for localhost.
    /// kNotFound for a pod that the node does not have, kUnavailable when the pod does not run or
    /// nobody listens there.
    virtual Task<Result<std::unique_ptr<net::ByteStream>>> connect(std::string namespace_,
                                                                   std::string pod,
                                                                   std::uint16_t port) = 0;

    /// What the node's pods take of it now; may wait for a second or so to see it.
    virtual Task<Result<kube::NodeUsage>> usage() = 0;
};

}  // namespace muster::apiserver
