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

/// The API's requests to the node that runs a pod. The composition root connects it to a runtime,
/// so that neither folder includes the other.
class NodeApi {
  public:
    virtual ~NodeApi() = default;

    /// The log of one container, as whole pieces of text with `options` applied; the API has
    /// checked the options, and `options.container` is set. kNotFound for a pod that the node does
    /// not have; kBadRequest with kubectl's wording for a container that is not in the pod, has not
    /// started, or has no previous run if that was requested.
    virtual Task<Result<std::unique_ptr<kube::TextStream>>> logs(std::string namespace_,
                                                                 std::string pod,
                                                                 kube::LogOptions options) = 0;

    /// Starts a command in a running container, or, without a command, attaches to its own program:
    /// to its output from now on, and to its input if it has one. The API has checked `options`;
    /// the container and at least one stream are set. kNotFound for a pod that the node does not
    /// have, kBadRequest with kubectl's wording for a container that does not run. If the command
    /// can't start, its session ends with that error.
    virtual Task<Result<std::unique_ptr<kube::CommandSession>>> exec(
        std::string namespace_, std::string pod, kube::CommandOptions options) = 0;

    /// Connects to a port of a running pod, as a program inside would connect to localhost.
    /// kNotFound for a pod that the node does not have, kUnavailable if the pod does not run or
    /// nothing listens there.
    virtual Task<Result<std::unique_ptr<net::ByteStream>>> connect(std::string namespace_,
                                                                   std::string pod,
                                                                   std::uint16_t port) = 0;

    /// What the node's pods use now; may wait for about a second to measure it.
    virtual Task<Result<kube::NodeUsage>> usage() = 0;
};

}  // namespace muster::apiserver
