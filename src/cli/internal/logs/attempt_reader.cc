#include "cli/internal/logs/attempt_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/internal/logs/retained_pods.h"

namespace muster::cli {

namespace {

/// What the server has of an existing pod's container: the newest log, and the one before.
PodStarts starts_on_server(const LogSource& source) {
    PodStarts starts{.pod_uid = source.pod_uid, .instances = {}, .started = source.started};
    for (int instance = std::max(0, source.started - 2); instance < source.started; ++instance)
        starts.instances.push_back(instance);
    return starts;
}

}  // namespace

void AttemptReader::read(const LogSource& source, std::optional<int> number) {
    std::vector<runtime::RetainedPod> kept;
    const auto latest =
        std::ranges::find(pods_, source.pod_uid, [](const LogPod& pod) { return pod.view.uid; });
    if (latest != pods_.end()) kept = earlier_pods(on_disk_, *latest);
    const auto gone = std::ranges::find(gone_, source.pod_uid, &runtime::RetainedPod::uid);
    if (gone != gone_.end()) kept.push_back(*gone);
    std::vector<PodStarts> starts;
    for (const runtime::RetainedPod& pod : kept) starts.push_back(starts_of(pod, source.container));
    if (gone == gone_.end()) starts.push_back(starts_on_server(source));
    read_chosen(source, choose_attempt(starts, number), kept);
}

void AttemptReader::read_chosen(const LogSource& source, const ChosenAttempt& chosen,
                                const std::vector<runtime::RetainedPod>& kept) {
    most_ = std::max(most_, chosen.total);
    if (!chosen.has_begun()) return;
    if (!chosen.attempt) {
        missing_.emplace_back(Code::kNotFound,
                              fmt::format("{}: the log of attempt {} is not kept any more",
                                          source.shown, chosen.number));
        return;
    }
    any_ = true;
    const Attempt& attempt = *chosen.attempt;
    const auto pod = std::ranges::find(kept, attempt.pod_uid, &runtime::RetainedPod::uid);
    if (pod != kept.end())
        session_.read(source, *pod, attempt.instance);
    else
        session_.read(*client_, source, attempt.instance + 1 < source.started);
}

}  // namespace muster::cli
