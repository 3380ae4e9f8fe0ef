#include "runtime/internal/pod/container_starter.h"

#include <utility>

#include "runtime/internal/files/object_data.h"
#include "runtime/internal/pod/container_plan.h"

namespace muster::runtime {

Task<Result<void>> ContainerStarter::start(std::size_t index) {
    const PodSandbox* sandbox = pod_.sandbox.get();
    Result<void> fetched =
        co_await fetch_data(pod_.node.client, pod_.node.options.stand_ins, pod_.namespace_(),
                            references_of(pod_.container(index)), pod_.config_maps, pod_.secrets);
    // The sandbox may be gone by now, and the machine knows.
    if (pod_.stopping || sandbox == nullptr || pod_.sandbox.get() != sandbox)
        co_return Result<void>();
    if (!fetched) co_return fetched;
    co_return launch(index);
}

Result<void> ContainerStarter::launch(std::size_t index) {
    const std::string& name = pod_.container(index).name;
    // Of the others both were done before the sandbox was made.
    if (pod_.containers.is_ephemeral(index)) {
        TRY_VOID(
            check_container(pod_.container(index), pod_.node.surroundings.namespaces, *pod_.pod));
        TRY_VOID(pod_.files.make_container(name));
    }
    TRY(pod_init::ContainerStart start, plan(index));
    TRY_VOID(pod_.files.begin_termination_log(name));
    warn_about_tmp(start);
    const RunId id = pod_.runs.next(index);
    start.id = id.number();
    TRY(std::unique_ptr<ContainerRun> run,
        ContainerRun::create(pod_.node.executor, std::move(start), pod_.files.log(name, id.log())));
    TRY(const auto groups, pod_.isolation.enter(index, run->id()));
    TRY_VOID(run->launch(*pod_.sandbox, groups));
    pod_.out_of_memory.begin(index, run->id());
    pod_.runs.add(std::move(run));
    return {};
}

Result<pod_init::ContainerStart> ContainerStarter::plan(std::size_t index) {
    const kube::Container& container = pod_.container(index);
    TRY(const ContainerSecurity security, pod_.isolation.container_security(index));
    EnvironmentInput input = pod_.environment();
    input.base = pod_.isolation.environment(index, security, std::move(input.base));
    if (!pod_.node.surroundings.namespaces) input.addresses = addresses_for(index);
    TRY(ContainerProcess process, make_process(container, input));
    TRY(pod_init::ContainerStart start,
        plan_container(container, std::move(process), security, pod_.node.surroundings,
                       pod_.files.of_container(container.name), volumes_.ready()));
    start.log_limits = pod_.node.options.log_limits;
    return start;
}

std::map<std::string, std::string, std::less<>> ContainerStarter::addresses_for(std::size_t index) {
    NameTable& names = pod_.node.names;
    // A replica may be named here before its pod or service was seen: it will have this address.
    if (const kube::OwnerReference* job = pod_.pod->metadata.controller(); job != nullptr)
        for (const kube::EnvVar& variable : pod_.container(index).env)
            for (const std::string& name : replica_names_in(variable.value, job->name))
                names.expect(pod_.namespace_(), name, job->uid);
    std::map<std::string, std::string, std::less<>> addresses;
    for (const NameTable::Entry& entry : names.seen_by(pod_.namespace_(), pod_.name()))
        for (const std::string& name : entry.names)
            addresses.emplace(name, format_address(entry.address));
    return addresses;
}

void ContainerStarter::warn_about_tmp(const pod_init::ContainerStart& start) {
    if (warned_about_tmp_) return;
    const std::optional<std::string> hidden = hidden_by_tmp(start);
    if (!hidden) return;
    warned_about_tmp_ = true;
    pod_.record(kube::EventType::kWarning, "PrivateTmp",
                fmt::format("{} is on this machine, but the pod has its own /tmp and does not see "
                            "it: move it elsewhere, or mount its directory (--mount)",
                            *hidden));
}

}  // namespace muster::runtime
