#include "base/log.h"
#include "runtime/internal/files/object_data.h"
#include "runtime/internal/files/volume_files.h"
#include "runtime/internal/pod/pod_worker.h"

// How a worker fills its pod's volumes, and keeps current those whose content somebody else has.

namespace muster::runtime {

namespace {

constexpr Duration kTokenRetry = std::chrono::seconds(10);

}  // namespace

/// Followed before it is read, so that no change is between the two.
Task<Result<void>> PodWorker::fetch_mounted_data() {
    const References references = references_of_volumes(*pod_);
    if (references.config_maps.empty() && references.secrets.empty()) co_return Result<void>();
    co_await node_.data_watch.wait_synced();
    if (following_ == nullptr)
        following_ = node_.data_watch.follow(pod_->metadata.namespace_, references,
                                             [this] { mounted_data_changed(); });
    co_return co_await fetch_data(node_.client, pod_->metadata.namespace_, references, config_maps_,
                                  secrets_);
}

Task<Result<void>> PodWorker::fill_volumes(bool in_use) {
    if (node_.options.server) CO_TRY_VOID(co_await tokens_.fetch(pod_));
    VolumeOptions options = volume_options();
    options.in_use = in_use;
    CO_TRY(volumes_, prepare_volumes(environment_input(), files_.volumes(), options));
    if (tokens_.due() && !std::exchange(keeps_tokens_, true))
        tasks_.spawn("tokens", keep_tokens_fresh());
    has_volumes_ = true;
    if (data_is_stale_) mounted_data_changed();
    co_return Result<void>{};
}

VolumeOptions PodWorker::volume_options() {
    const std::optional<std::uint32_t> group = isolation_.security().fs_group;
    return {.tmpfs = node_.surroundings.namespaces,
            .fs_group = group,
            .tokens = {.texts = tokens_.texts(),
                       .user = isolation_.user_of_all(),
                       .group = group.has_value()}};
}

bool PodWorker::has_ended() const {
    const std::string phase = machine_.phase();
    return phase == "Succeeded" || phase == "Failed";
}

Task<void> PodWorker::keep_tokens_fresh() {
    for (;;) {
        co_await node_.clock.sleep_until(*tokens_.due());
        for (;;) {
            if (has_ended()) co_return;
            Result<void> renewed = co_await tokens_.fetch(pod_);
            if (renewed)
                renewed = rewrite_volumes(environment_input(), files_.volumes(), volume_options(),
                                          has_tokens);
            if (renewed) break;
            log::warning("a pod's token could not be renewed; it is tried again",
                         {{"pod", pod_->metadata.name}, {"error", renewed.error().message()}});
            co_await node_.clock.sleep_for(kTokenRetry);
        }
    }
}

void PodWorker::mounted_data_changed() {
    data_is_stale_ = true;
    if (has_volumes_ && !std::exchange(rewrites_data_, true))
        tasks_.spawn("mounted data", rewrite_data());
}

/// What there was stays when the object is gone or can't be mounted any more, as with a kubelet;
/// its next change is another chance.
Task<void> PodWorker::rewrite_data() {
    while (std::exchange(data_is_stale_, false)) {
        if (has_ended()) co_return;
        Result<void> written = co_await fetch_mounted_data();
        if (written)
            written = rewrite_volumes(environment_input(), files_.volumes(), volume_options(),
                                      [](const kube::Volume& volume) {
                                          return has_mounted_data(volume) || has_pod_fields(volume);
                                      });
        // What a job owns goes along with its pods.
        if (!written && !pod_->metadata.deleting())
            record(kube::EventType::kWarning, "FailedMount",
                   "MountVolume.SetUp failed: " + written.error().message() +
                       "; the containers keep what they have");
    }
    rewrites_data_ = false;
}

}  // namespace muster::runtime
