#include "operator/internal/restart_policy/restart_policy.h"

namespace muster::operators {

bool is_retryable(std::optional<std::int32_t> exit_code) { return !exit_code || *exit_code >= 128; }

Consequence consequence_of(PodEnd end, std::optional<std::int32_t> exit_code,
                           const RestartRules& rules) {
    const bool final = rules.policy == RestartPolicy::kNever || rules.exhausted ||
                       (rules.policy == RestartPolicy::kExitCode && !is_retryable(exit_code));
    if (end != PodEnd::kStopped && final) return {.lost = true};
    // While a job is suspended its pods are deleted for that reason, and pods of an older
    // generation are replaced anyway.
    const bool by_itself = !rules.paused && rules.current;
    return {.counts = !rules.restarts_all && by_itself,
            .restarts_all = rules.restarts_all && (end == PodEnd::kFailed || by_itself)};
}

}  // namespace muster::operators
