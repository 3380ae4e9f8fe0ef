#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "workers/warm/messages.h"

namespace muster::workers {

/// What to do with a spare after its imports.
struct SpareVerdict {
    enum class Kind : std::uint8_t {
        kKeep,     ///< its worker starts warm
        kWithout,  ///< replace it by one without that module
        kNever,    ///< make none: it would cost memory and still start cold
    };
    Kind kind = Kind::kKeep;
    std::string module = {};
    std::string why = {};  ///< why it is not kept

    friend bool operator==(const SpareVerdict&, const SpareVerdict&) = default;
};

SpareVerdict judge(const SpareReady& ready);

/// The hook's list without these modules and their submodules. kInvalid: it is not such a list.
Result<std::string> without_modules(std::string_view imports, const std::set<std::string>& modules);

/// The part of a reason that identifies the cause of a cold start, without values of a single rank:
/// each cause is logged once.
std::string cause_of(std::string_view why);

}  // namespace muster::workers
