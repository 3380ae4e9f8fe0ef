#include "runtime/internal/node/pod_workers.h"

#include <set>
#include <utility>

#include "base/log.h"
#include "base/time/restarting_task.h"
#include "runtime/internal/files/claims.h"
#include "runtime/internal/node/ended_pod_log.h"

namespace muster::runtime {

void PodWorkers::reserve_for_recovered_pods() {
    std::set<std::string> uids;
    for (const auto& [uid, pod] : recovered_) {
        uids.insert(uid);
        node_.claims.expect(uid);
        node_.names.reserve(pod.name.namespace_, pod.name.name, pod.pod.address);
        if (Devices devices = devices_in(pod.pod.note); !devices.empty())
            node_.isolation.devices.restore(uid, std::move(devices));
    }
    node_.isolation.cgroups.keep_only(uids);
    if (!recovered_.empty()) node_.hosts.hold();
}

void PodWorkers::end_orphans(const std::function<bool(const PodName&)>& is_known) {
    node_.hosts.release();
    for (auto& [uid, pod] : std::exchange(recovered_, {})) {
        const PodName& name = pod.name;
        log::warning("a pod is ended, as its object is gone or says that it has ended",
                     {{"namespace", name.namespace_}, {"pod", name.name}, {"uid", uid}});
        if (auto ended = end_pod(std::move(pod.pod)); !ended)
            log::error("a pod can't be ended", {{"error", ended.error().message()}});
        remove_pod_directory(pod.directory);
        node_.isolation.devices.release(uid);
        node_.claims.release(uid);
        if (!is_known(name)) node_.names.remove_pod(name.namespace_, name.name);
    }
    std::set<std::string> uids;
    for (const auto& [uid, worker] : workers_) uids.insert(uid);
    node_.isolation.cgroups.keep_only(uids);
}

void PodWorkers::update(const std::shared_ptr<const kube::Pod>& pod) {
    const std::string& uid = pod->metadata.uid;
    const auto it = workers_.find(uid);
    if (it != workers_.end()) return it->second->update(pod);
    // A pod that ended before this process began is not run again; its deletion only needs our
    // confirmation.
    if (has_ended(*pod) && !pod->metadata.deleting()) return;
    PodWorker& worker =
        *workers_.emplace(uid, std::make_unique<PodWorker>(node_, pod)).first->second;
    if (auto recovered = recovered_.extract(uid))
        worker.take_over(std::move(recovered.mapped().pod));
    else
        worker.start();
}

void PodWorkers::end(const std::string& uid) {
    auto node = workers_.extract(uid);
    if (node.empty()) return;
    PodWorker* worker = node.mapped().get();
    ending_.emplace(worker, std::move(node.mapped()));
    spawn_restarting(tasks_, node_.clock, "end of a pod",
                     [this, worker] { return finish(worker); });
}

/// If it is cancelled half-way, stop() finds the worker.
Task<void> PodWorkers::finish(PodWorker* worker) {
    co_await worker->stop();
    ending_.erase(worker);
}

Task<void> PodWorkers::stop() {
    for (auto& [uid, worker] : workers_) ending_.emplace(worker.get(), std::move(worker));
    workers_.clear();
    for (auto& [key, worker] : ending_) worker->kill();
    while (!ending_.empty()) {
        PodWorker* worker = ending_.begin()->first;
        co_await worker->stop();
        ending_.erase(worker);
    }
}

PodWorker* PodWorkers::find(const std::string& namespace_, const std::string& pod) const {
    for (const auto& [uid, worker] : workers_)
        if (worker->pod().metadata.namespace_ == namespace_ && worker->pod().metadata.name == pod)
            return worker.get();
    return nullptr;
}

UsageSample PodWorkers::sample_usage() const {
    const ProcessTable processes = read_process_table();
    UsageSample sample{.at = node_.clock.now(),
                       .wall = node_.clock.wall_now(),
                       .busy = busy_time_of_machine(),
                       .memory_in_use = memory_in_use_of_machine(),
                       .containers = {}};
    for (const auto& [uid, worker] : workers_)
        for (UsageSample::Container& container : worker->access().used(processes))
            sample.containers.push_back(std::move(container));
    return sample;
}

}  // namespace muster::runtime
