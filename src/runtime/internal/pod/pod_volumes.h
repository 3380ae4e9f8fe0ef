#pragma once

#include <memory>

#include "base/async/signal.h"
#include "runtime/internal/files/data_watch.h"
#include "runtime/internal/files/pod_tokens.h"
#include "runtime/internal/files/volumes.h"
#include "runtime/internal/pod/pod_context.h"

namespace muster::runtime {

/// Fills a pod's volumes, and keeps those current whose content comes from the API: ConfigMaps,
/// Secrets, fields of the pod, tokens. Thread: the loop.
class PodVolumes {
  public:
    explicit PodVolumes(PodContext& pod)
        : pod_(pod), tokens_(pod.node.client, pod.node.clock), ended_(pod.node.executor) {}
    ~PodVolumes();
    PodVolumes(const PodVolumes&) = delete;
    PodVolumes& operator=(const PodVolumes&) = delete;

    /// Finds the directories of the claims. kAlreadyExists if another pod has one that only one pod
    /// may use. `in_use`: this pod has them already.
    Task<Result<void>> find_claims(bool in_use);
    /// Reads the objects that the volumes show, and follows them from then on.
    Task<Result<void>> fetch_data();
    /// Writes the files. `in_use`: running containers see them already.
    Task<Result<void>> fill(bool in_use);
    /// A field of the pod that a volume may show has changed.
    void data_changed();
    /// From then on no container reads them: nothing is followed or renewed any more.
    void pod_has_ended();

    /// Valid once they are filled.
    const ReadyVolumes& ready() const { return volumes_; }

  private:
    VolumeOptions options();
    Task<void> end_of_pod();
    Task<void> keep_tokens_fresh();
    Task<void> rewrite_data();

    PodContext& pod_;
    PodTokens tokens_;
    ReadyVolumes volumes_;
    ClaimDirectories claims_;
    std::unique_ptr<DataWatch::Following> following_;
    Signal ended_;
    bool keeps_tokens_ = false;
    bool filled_ = false;
    bool stale_ = false;  ///< the files are not up to date
    bool rewrites_ = false;
};

}  // namespace muster::runtime
