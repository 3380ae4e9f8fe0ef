#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "jobs/job.h"

namespace muster::jobs {

/// An annotation by which upstream's operator and users steer its job master
/// (docs/deployment/argument.md, dlrover/python/master/args.py). It is data here: checked, and in no
/// case part of a command.
struct MasterAnnotation {
    enum class Type : std::uint8_t {
        kNumber,  ///< from `least` on
        kChoice,  ///< one of `choices`
        kText,
    };
    enum class Effect : std::uint8_t {
        kVariable,  ///< a variable of the pods has it
        kPending,   ///< JobKind::pending_policy follows it
        kNone,      ///< `instead` says what does the same here, or why nothing does
    };

    std::string_view name;
    Type type = Type::kText;
    std::int64_t least = 0;
    std::vector<std::string> choices = {};
    std::string_view standard = {};
    Effect effect = Effect::kNone;
    std::string_view instead = {};
};

inline constexpr std::string_view kPendingTimeout = "pending_timeout";
inline constexpr std::string_view kPendingStrategy = "pending_fail_strategy";

std::span<const MasterAnnotation> master_annotations();
/// The value on the job if it is valid, else the standard one.
std::string master_setting(const Job& job, std::string_view name);
/// Values out of range, and annotations without effect.
void check_master_annotations(const Job& job, std::vector<Cause>& found);

}  // namespace muster::jobs
