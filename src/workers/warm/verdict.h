#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "workers/warm/messages.h"

namespace muster::workers {

/// What becomes of a spare that has imported.
struct SpareVerdict {
    enum class Kind : std::uint8_t {
        kKeep,     ///< its worker may be warm
        kWithout,  ///< another one, without that module, may be
        kNever,    ///< none will be: it would cost its memory for an ordinary start
    };
    Kind kind = Kind::kKeep;
    std::string module = {};
    std::string why = {};  ///< not kept

    friend bool operator==(const SpareVerdict&, const SpareVerdict&) = default;
};

SpareVerdict judge(const SpareReady& ready);

/// The list that the hook wrote, without these modules and what lies in them. kInvalid: it is none.
Result<std::string> without_modules(std::string_view imports, const std::set<std::string>& modules);

/// What tells one cause of a cold start from another: it is said once, and not for each rank's own
/// values.
std::string cause_of(std::string_view why);

}  // namespace muster::workers
