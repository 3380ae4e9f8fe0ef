#pragma once

#include <memory>
#include <string>

#include "base/async.h"
#include "base/result.h"
#include "kube/client.h"
#include "kube/transport.h"

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
};

}  // namespace muster::apiserver
