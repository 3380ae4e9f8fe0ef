#include <algorithm>

#include "base/log.h"
#include "runtime/internal/pod/pod_worker.h"

// How a worker begins with a pod that an earlier process had, and that goes on.

namespace muster::runtime {

void PodWorker::take_over(RecoveredPod found) {
    execs_.begin_after(found.connections);
    sandbox_ = PodSandbox::take_over(node_.executor, node_.sandboxes, std::move(found));
    found_.emplace(runs_.size());
    tasks_.spawn("taking over", take_over_sandbox());
}

Task<void> PodWorker::take_over_sandbox() {
    if (auto prepared = co_await prepare_recovered_pod(); !prepared)
        log::warning("what a pod needs to start containers again is not there",
                     {{"pod", pod_->metadata.name}, {"error", prepared.error().message()}});
    co_await read_reports();
}

Task<Result<void>> PodWorker::prepare_recovered_pod() {
    CO_TRY_VOID(isolation_.prepare());
    CO_TRY_VOID(files_.take_over(*pod_));
    CO_TRY_VOID(co_await fetch_mounted_data());
    co_return co_await fill_volumes(true);
}

void PodWorker::all_is_told() {
    std::vector<RecoveredContainer> containers(runs_.size());
    std::vector<RecoveredStarts::Start>& newest = found_->newest();
    for (std::size_t i = 0; i < containers.size(); ++i)
        if (newest[i].state != RecoveredContainer::State::kNone)
            containers[i] = take_over_container(i, newest[i]);
    found_.reset();
    PodActions actions = machine_.take_over(pod_->status, containers, now());
    count_launches();
    perform(std::move(actions));
    // What was asked of it meanwhile.
    update(pod_);
}

RecoveredContainer PodWorker::take_over_container(std::size_t index,
                                                  RecoveredStarts::Start& found) {
    using State = RecoveredContainer::State;
    const RunId id = RunId::of(found.report.id);
    RecoveredContainer container{.state = found.state,
                                 .launch = id.launch,
                                 .container_id = container_id(found.report.id),
                                 .end = {}};
    launches_[index] = id.launch;
    const std::string& name = this->container(index).name;
    if (id.launch > 1) keep_run(index, {.container = index, .launch = id.launch - 1}, true);
    const bool ended = found.state == State::kEnded || found.state == State::kFailed;
    keep_run(index, id, ended);
    if (runs_[index].empty()) return container;
    ContainerRun& run = *runs_[index].back();
    if (auto entered = isolation_.enter(index, found.report.id); !entered)
        log::warning("the limits of a container that runs can't be looked after",
                     {{"pod", pod_->metadata.name},
                      {"container", name},
                      {"error", entered.error().message()}});
    if (found.state == State::kRunning) run.started(std::move(found.report.pidfd));
    if (found.state == State::kEnded) container.end = end_of(index, run, found.report);
    if (found.state == State::kFailed) {
        isolation_.leave(found.report.id);
        const pod_init::StartFailure failure{found.report.stage, found.report.value,
                                             found.report.text};
        container.end.message = describe_start_failure(failure, run.start());
    }
    return container;
}

void PodWorker::keep_run(std::size_t index, RunId id, bool ended) {
    pod_init::ContainerStart start;
    start.id = id.number();
    start.argv = container(index).command;
    start.environment = node_.options.environment;
    auto run = ContainerRun::recovered(node_.executor, std::move(start),
                                       files_.log(container(index).name, id.log()), ended);
    if (run) return runs_[index].push_back(*std::move(run));
    log::warning("the log of a container is gone", {{"pod", pod_->metadata.name},
                                                    {"container", container(index).name},
                                                    {"error", run.error().message()}});
}

void PodWorker::count_launches() {
    for (std::size_t i = 0; i < launches_.size(); ++i)
        launches_[i] = std::max(launches_[i], launches_of(machine_.facts().containers[i]));
}

}  // namespace muster::runtime
