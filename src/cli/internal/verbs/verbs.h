#pragma once

#include <memory>
#include <vector>

#include "cli/internal/command_line/verb.h"

namespace muster::cli {

using MakeVerb = std::unique_ptr<Verb>();

// A file each. A new one is declared here and stands in the list of verbs.cc.

MakeVerb run_verb, validate_verb, convert_verb, explain_verb, simulate_verb;
MakeVerb up_verb, down_verb, status_verb, kubeconfig_verb;
MakeVerb get_verb, describe_verb, logs_verb, events_verb, top_verb;
MakeVerb apply_verb, wait_verb, delete_verb;
MakeVerb manifests_verb, completion_verb, complete_verb, rsh_verb, operator_verb, migrate_verb;
MakeVerb kill_verb, pause_verb, partition_verb;
MakeVerb clean_verb, version_verb, help_verb;

/// All of them, each to be used once.
std::vector<std::unique_ptr<Verb>> make_verbs();

}  // namespace muster::cli
