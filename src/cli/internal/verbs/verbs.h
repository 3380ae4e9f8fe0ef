#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "cli/internal/flags/verb.h"

// One line for each verb, by name, with '_' for '-'; its file defines `std::unique_ptr<Verb> <name>_verb()`.
// clang-format off: one a line
#define MUSTER_VERBS(VERB) \
    VERB(run)              \
    VERB(launch)           \
    VERB(init)             \
    VERB(step)             \
    VERB(validate)         \
    VERB(convert)          \
    VERB(explain)          \
    VERB(simulate)         \
    VERB(up)               \
    VERB(down)             \
    VERB(status)           \
    VERB(backup)           \
    VERB(restore)          \
    VERB(kubeconfig)       \
    VERB(envtest)          \
    VERB(get)              \
    VERB(describe)         \
    VERB(ps)               \
    VERB(logs)             \
    VERB(why)              \
    VERB(attach)           \
    VERB(stop)             \
    VERB(rm)               \
    VERB(rerun)            \
    VERB(diff)             \
    VERB(events)           \
    VERB(exec)             \
    VERB(cp)               \
    VERB(port_forward)     \
    VERB(scale)            \
    VERB(top)              \
    VERB(apply)            \
    VERB(wait)             \
    VERB(delete)           \
    VERB(manifests)        \
    VERB(completion)       \
    VERB(rsh)              \
    VERB(master)           \
    VERB(ask_master)       \
    VERB(share)            \
    VERB(operator)         \
    VERB(migrate)          \
    VERB(kill)             \
    VERB(pause)            \
    VERB(partition)        \
    VERB(clean)            \
    VERB(version)          \
    VERB(help)
// clang-format on

namespace muster::cli {

#define DECLARE(name) std::unique_ptr<Verb> name##_verb();
MUSTER_VERBS(DECLARE)
#undef DECLARE
/// Called by the completion of shells; it is not listed.
inline constexpr std::string_view kCompleteVerb = "__complete";
std::unique_ptr<Verb> complete_verb();

/// All listed verbs. Each object is for one command line.
std::vector<std::unique_ptr<Verb>> make_verbs();
/// The verb of that name, listed or not; null if there is none.
std::unique_ptr<Verb> make_verb(std::string_view name);

}  // namespace muster::cli
