#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time/clock.h"
#include "kube/schedule/time_zone.h"

namespace muster::kube {

/// When a CronJob is due: five fields (minute, hour, day of the month, month, day of the week), or
/// "@hourly", "@every 1h30m" and the like. Grammar and messages are those of robfig/cron's
/// ParseStandard, since the API shows them.
///
/// A time that the clocks skip in spring does not come on that day, and one that they show twice in
/// autumn comes twice.
class CronSchedule {
  public:
    /// Failures are kInvalid.
    static Result<CronSchedule> parse(std::string_view text);

    /// The first time after `after`; nullopt if there is none in five years (31 February).
    std::optional<WallTime> next(WallTime after, const TimeZone& zone) const;
    /// The last time after `after` that is not later than `now`.
    std::optional<WallTime> last(WallTime after, WallTime now, const TimeZone& zone) const;

  private:
    struct Bits {
        std::uint64_t set = 0;
        bool any = false;  ///< the field is a star

        bool has(unsigned value) const { return (set >> value & 1) != 0; }
    };
    friend class CronReader;

    bool is_day(std::chrono::year_month_day date) const;

    std::optional<Duration> every_;
    Bits minute_;
    Bits hour_;
    Bits day_;
    Bits month_;
    Bits weekday_;
};

}  // namespace muster::kube
