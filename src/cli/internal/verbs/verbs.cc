#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

std::vector<std::unique_ptr<Verb>> make_verbs() {
    constexpr MakeVerb* kVerbs[] = {
        run_verb,       validate_verb, convert_verb,   explain_verb,    simulate_verb,
        up_verb,        down_verb,     status_verb,    kubeconfig_verb, get_verb,
        describe_verb,  logs_verb,     events_verb,    top_verb,        apply_verb,
        wait_verb,      delete_verb,   manifests_verb, completion_verb, complete_verb,
        rsh_verb,       operator_verb, migrate_verb,   kill_verb,       pause_verb,
        partition_verb, clean_verb,    version_verb,   help_verb,
    };
    std::vector<std::unique_ptr<Verb>> verbs;
    for (MakeVerb* make : kVerbs) verbs.push_back(make());
    return verbs;
}

}  // namespace muster::cli
