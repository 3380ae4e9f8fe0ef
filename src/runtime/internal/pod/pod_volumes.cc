#include "runtime/internal/pod/pod_volumes.h"

#include <utility>

#include "base/async/first_of.h"
#include "base/log.h"
#include "base/time/restarting_task.h"
#include "runtime/internal/files/claims.h"
#include "runtime/internal/files/object_data.h"
#include "runtime/internal/files/volume_files.h"

namespace muster::runtime {

namespace {

constexpr Duration kTokenRetry = std::chrono::seconds(10);
/// No timer tells when the calendar is set back.
constexpr Duration kCalendarLook = std::chrono::minutes(1);

}  // namespace

PodVolumes::~PodVolumes() { pod_.node.claims.release(pod_.pod->metadata.uid); }

Task<Result<void>> PodVolumes::find_claims(bool in_use) {
    CO_TRY(PodClaims found, co_await runtime::find_claims(pod_.node.client, pod_.node.clock,
                                                          pod_.pod, pod_.node.options.claims));
    Result<void> taken = pod_.node.claims.take(found.of_one_pod, *pod_.pod);
    if (!taken && !in_use) co_return taken;
    claims_ = std::move(found.directories);
    co_return Result<void>();
}

/// Followed before it is read, so that no change is missed in between.
Task<Result<void>> PodVolumes::fetch_data() {
    const References references = references_of_volumes(*pod_.pod);
    if (references.config_maps.empty() && references.secrets.empty()) co_return Result<void>();
    co_await pod_.node.data_watch.wait_synced();
    if (following_ == nullptr)
        following_ =
            pod_.node.data_watch.follow(pod_.namespace_(), references, [this] { data_changed(); });
    co_return co_await runtime::fetch_data(pod_.node.client, pod_.node.options.stand_ins,
                                           pod_.namespace_(), references, pod_.config_maps,
                                           pod_.secrets);
}

Task<Result<void>> PodVolumes::fill(bool in_use) {
    if (pod_.node.options.server) CO_TRY_VOID(co_await tokens_.fetch(pod_.pod));
    VolumeOptions wanted = options();
    wanted.in_use = in_use;
    CO_TRY(volumes_, prepare_volumes(pod_.environment(), pod_.files.volumes(), wanted));
    if (tokens_.due() && !std::exchange(keeps_tokens_, true))
        spawn_restarting(
            pod_.tasks, pod_.node.clock, "tokens",
            [this] { return first_of(keep_tokens_fresh(), end_of_pod()); },
            [this](const std::string& what) {
                pod_.record(kube::EventType::kWarning, "FailedMount",
                            "renewing tokens failed and is tried again: " + what);
            });
    filled_ = true;
    if (stale_) data_changed();
    co_return Result<void>{};
}

VolumeOptions PodVolumes::options() {
    const std::optional<std::uint32_t> group = pod_.isolation.security().fs_group;
    return {.tmpfs = pod_.node.surroundings.namespaces,
            .fs_group = group,
            .tokens = {.texts = tokens_.texts(),
                       .user = pod_.isolation.user_of_all(),
                       .group = group.has_value()},
            .claims = claims_};
}

Task<void> PodVolumes::end_of_pod() {
    while (!pod_.machine.has_ended()) co_await ended_.wait();
}

Task<void> PodVolumes::keep_tokens_fresh() {
    for (;;) {
        while (!tokens_.is_due())
            co_await first_of(pod_.node.clock.sleep_until_wall(*tokens_.due()),
                              pod_.node.clock.sleep_for(kCalendarLook));
        for (;;) {
            Result<void> renewed = co_await tokens_.fetch(pod_.pod);
            if (renewed)
                renewed = rewrite_volumes(pod_.environment(), pod_.files.volumes(), options(),
                                          has_tokens);
            if (renewed) break;
            log::warning("a pod's token could not be renewed; it is tried again",
                         {{"pod", pod_.name()}, {"error", renewed.error().message()}});
            co_await pod_.node.clock.sleep_for(kTokenRetry);
        }
    }
}

void PodVolumes::pod_has_ended() {
    following_.reset();
    pod_.node.claims.release(pod_.pod->metadata.uid);
    ended_.notify_all();
}

void PodVolumes::data_changed() {
    stale_ = true;
    if (!filled_ || std::exchange(rewrites_, true)) return;
    const auto rewrite = [this] {
        stale_ = true;  // as it is after a fault
        return rewrite_data();
    };
    spawn_restarting(pod_.tasks, pod_.node.clock, "mounted data", rewrite,
                     [this](const std::string& what) {
                         pod_.record(kube::EventType::kWarning, "FailedMount",
                                     "MountVolume.SetUp failed: " + what);
                     });
}

/// If the object is gone or can't be mounted any more, the old files stay, as with a kubelet; its
/// next change is another chance.
Task<void> PodVolumes::rewrite_data() {
    while (std::exchange(stale_, false)) {
        if (pod_.machine.has_ended()) co_return;
        Result<void> written = co_await fetch_data();
        if (written)
            written = rewrite_volumes(pod_.environment(), pod_.files.volumes(), options(),
                                      [](const kube::Volume& volume) {
                                          return has_mounted_data(volume) || has_pod_fields(volume);
                                      });
        // A job's objects are deleted with its pods.
        if (!written && !pod_.pod->metadata.deleting())
            pod_.record(kube::EventType::kWarning, "FailedMount",
                        "MountVolume.SetUp failed: " + written.error().message() +
                            "; the containers keep what they have");
    }
    rewrites_ = false;
}

}  // namespace muster::runtime
