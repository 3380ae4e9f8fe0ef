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

    /// The log of one container; `options.container` is set. kBadRequest with kubectl's wording
    /// when the container has not started.
    virtual Task<Result<std::unique_ptr<kube::TextStream>>> logs(std::string namespace_,
                                                                 std::string pod,
                                                                 kube::LogOptions options) = 0;
};

}  // namespace muster::apiserver
