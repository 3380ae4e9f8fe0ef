#include "runtime/internal/node/ended_pod_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/internal/files/retained_record.h"
#include "runtime/internal/pod_containers.h"
#include "runtime/retained_logs.h"

namespace muster::runtime {

bool has_ended(const kube::Pod& pod) {
    return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

Result<std::unique_ptr<kube::TextStream>> open_ended_pod_log(asio::any_io_executor executor,
                                                             const std::filesystem::path& logs_dir,
                                                             const kube::Pod& pod,
                                                             const kube::LogOptions& options,
                                                             WallTime now) {
    const std::string& name = pod.metadata.name;
    const std::string& container = options.container;
    const auto has = [&container](const std::vector<kube::Container>& containers) {
        return std::ranges::find(containers, container, &kube::Container::name) != containers.end();
    };
    if (!has(pod.spec.containers) && !has(pod.spec.init_containers) &&
        !has(ephemeral_containers_of(pod.spec)))
        return Error(Code::kBadRequest,
                     fmt::format("container {} is not valid for pod {}", container, name));
    RetainedPod retained;
    retained.name = name;
    std::vector<int> instances;
    if (!logs_dir.empty()) {
        retained.directory = log_directory_of(logs_dir, pod);
        instances = retained_instances(retained, container);
    }
    if (options.previous && !instances.empty()) instances.pop_back();
    if (instances.empty())
        return Error(
            Code::kBadRequest,
            options.previous
                ? fmt::format("previous terminated container \"{}\" in pod \"{}\" not found",
                              container, name)
                : fmt::format("container \"{}\" in pod \"{}\" has left no log", container, name));
    return open_retained_log(std::move(executor), retained, instances.back(), options, now);
}

}  // namespace muster::runtime
