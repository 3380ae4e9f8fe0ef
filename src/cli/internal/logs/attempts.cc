#include "cli/internal/logs/attempts.h"

#include <algorithm>

namespace muster::cli {

ChosenAttempt choose_attempt(const std::vector<PodStarts>& pods, std::optional<int> number) {
    ChosenAttempt chosen;
    for (const PodStarts& pod : pods) chosen.total += pod.started;
    const bool begins = pods.empty() || pods.back().started == 0;
    chosen.number = number.value_or(chosen.total - (begins ? 1 : 2));
    int before = 0;
    for (const PodStarts& pod : pods) {
        const int instance = chosen.number - before;
        if (std::ranges::find(pod.instances, instance) != pod.instances.end())
            chosen.attempt =
                Attempt{.number = chosen.number, .pod_uid = pod.pod_uid, .instance = instance};
        before += pod.started;
    }
    return chosen;
}

}  // namespace muster::cli
