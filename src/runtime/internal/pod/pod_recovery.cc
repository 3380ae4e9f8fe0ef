#include "runtime/internal/pod/pod_recovery.h"

#include <utility>

#include "base/log.h"

namespace muster::runtime {

void PodRecovery::begin(RecoveredPod recovered) {
    pod_.execs.begin_after(recovered.connections);
    pod_.sandbox =
        PodSandbox::take_over(pod_.node.executor, pod_.node.sandboxes, std::move(recovered));
    starts_.emplace(pod_.runs.containers());
}

std::vector<RecoveredContainer> PodRecovery::finish() {
    std::vector<RecoveredContainer> containers(pod_.runs.containers());
    std::vector<RecoveredStarts::Start>& newest = starts_->newest();
    for (std::size_t i = 0; i < containers.size(); ++i)
        if (newest[i].state != RecoveredContainer::State::kNone)
            containers[i] = recover(i, newest[i]);
    starts_.reset();
    return containers;
}

RecoveredContainer PodRecovery::recover(std::size_t index, RecoveredStarts::Start& start) {
    using State = RecoveredContainer::State;
    const RunId id = RunId::of(start.report.id);
    RecoveredContainer container{.state = start.state,
                                 .launch = id.launch,
                                 .container_id = pod_.container_id(start.report.id),
                                 .end = {}};
    pod_.runs.count(index, id.launch);
    if (id.launch > 1) add_run({.container = index, .launch = id.launch - 1}, true);
    add_run(id, start.state == State::kEnded || start.state == State::kFailed);
    ContainerRun* const run = pod_.runs.newest(index);
    if (run == nullptr) return container;
    if (auto entered = pod_.isolation.enter(index, start.report.id); !entered)
        log::warning("the limits of a running container can't be watched",
                     {{"pod", pod_.name()},
                      {"container", pod_.container(index).name},
                      {"error", entered.error().message()}});
    pod_.out_of_memory.begin(index, start.report.id);
    if (start.state == State::kRunning) run->started(std::move(start.report.pidfd));
    if (start.state == State::kEnded) container.end = pod_.end_of(index, *run, start.report);
    if (start.state == State::kFailed) {
        pod_.out_of_memory.end(start.report.id);
        pod_.isolation.leave(start.report.id);
        container.end.message = pod_.failure_of(*run, start.report);
    }
    return container;
}

void PodRecovery::add_run(RunId id, bool ended) {
    const kube::Container& container = pod_.container(id.container);
    pod_init::ContainerStart start;
    start.id = id.number();
    start.argv = container.command;
    start.environment = pod_.node.options.environment;
    auto run = ContainerRun::recovered(pod_.node.executor, std::move(start),
                                       pod_.files.log(container.name, id.log()), ended);
    if (run) return pod_.runs.add(*std::move(run));
    log::warning(
        "the log of a container is gone",
        {{"pod", pod_.name()}, {"container", container.name}, {"error", run.error().message()}});
}

}  // namespace muster::runtime
