#pragma once

#include <span>
#include <string_view>

#include "cli/internal/envtest/go_flags.h"

namespace muster::cli {

/// What becomes of a flag of kube-apiserver here.
enum class FlagEffect {
    kHonoured,
    kQuiet,    ///< there is nothing here that it could change
    kTold,     ///< without effect, which is said
    kRefused,  ///< without it the server would do something else than what was asked for
};

struct KubeApiserverFlag {
    std::string_view name;
    GoFlagKind kind;
    FlagEffect effect;
    std::string_view text = {};  ///< what it does, or what to do instead
};

/// All flags of kube-apiserver, by name.
std::span<const KubeApiserverFlag> kube_apiserver_flag_table();

}  // namespace muster::cli
