#include "cli/internal/logs/retained_pods.h"

#include <algorithm>
#include <set>

#include "base/parse_number.h"
#include "control_plane/daemon/state_home.h"
#include "jobs/kind.h"

namespace muster::cli {

namespace {

std::string label(const runtime::RetainedPod& pod, std::string_view key) {
    const auto it = pod.labels.find(std::string(key));
    return it == pod.labels.end() ? std::string() : it->second;
}

}  // namespace

std::optional<std::filesystem::path> retained_logs_dir(const kube::ClientConfig& access,
                                                       const control_plane::Caller& caller) {
    for (const std::filesystem::path& home : {std::filesystem::path(access.file).parent_path(),
                                              control_plane::state_path({}, caller)}) {
        const auto daemon = control_plane::find_daemon(home);
        // One that can't be examined is not ours.
        if (!daemon || !*daemon || (*daemon)->address.empty()) continue;
        const auto url = kube::parse_server_url((*daemon)->address, true);
        if (url && *url == access.url) return home / "logs";
    }
    return std::nullopt;
}

std::vector<runtime::RetainedPod> choose_kept(std::vector<runtime::RetainedPod> kept,
                                              const KeptSubject& subject,
                                              const std::vector<LogPod>& present) {
    std::ranges::sort(kept, std::greater(), &runtime::RetainedPod::written);
    std::set<std::string> names;
    for (const LogPod& pod : present) names.insert(pod.view.name);
    std::string owner = subject.uid;
    std::vector<runtime::RetainedPod> chosen;
    for (runtime::RetainedPod& pod : kept) {
        if (subject.pod ? pod.name != subject.name
                        : label(pod, jobs::labels::kJobName) != subject.name)
            continue;
        if (!subject.pod) {
            if (owner.empty()) owner = pod.owner_uid;
            if (pod.owner_uid != owner) continue;
        }
        if (names.insert(pod.name).second) chosen.push_back(std::move(pod));
    }
    return chosen;
}

std::vector<runtime::RetainedPod> earlier_pods(const std::vector<runtime::RetainedPod>& kept,
                                               const LogPod& latest) {
    std::vector<runtime::RetainedPod> earlier;
    for (const runtime::RetainedPod& pod : kept)
        if (pod.namespace_ == latest.view.namespace_ && pod.name == latest.view.name &&
            pod.uid != latest.view.uid && !pod.owner_uid.empty() &&
            pod.owner_uid == latest.view.owner_uid)
            earlier.push_back(pod);
    std::ranges::sort(earlier, {}, &runtime::RetainedPod::written);
    return earlier;
}

PodStarts starts_of(const runtime::RetainedPod& kept, const std::string& container) {
    PodStarts starts{.pod_uid = kept.uid,
                     .instances = runtime::retained_instances(kept, container),
                     .started = 0};
    if (!starts.instances.empty()) starts.started = starts.instances.back() + 1;
    return starts;
}

LogPod log_pod(const runtime::RetainedPod& kept) {
    LogPod pod;
    pod.view.namespace_ = kept.namespace_;
    pod.view.name = kept.name;
    pod.view.uid = kept.uid;
    pod.view.owner_uid = kept.owner_uid;
    pod.view.replica_type = label(kept, jobs::labels::kReplicaType);
    pod.job = label(kept, jobs::labels::kJobName);
    pod.index = leading_number<int>(label(kept, jobs::labels::kReplicaIndex)).value_or(0);
    for (const std::string& name : kept.containers) {
        const int started = starts_of(kept, name).started;
        ContainerView container;
        container.name = name;
        container.restarts = std::max(0, started - 1);
        if (started > 0) container.terminated.emplace();
        pod.view.containers.push_back(std::move(container));
    }
    return pod;
}

}  // namespace muster::cli
