#include "cel/internal/library/arguments.h"
#include "cel/internal/time_text.h"

namespace muster::cel {
namespace {

constexpr std::int64_t kNano = 1'000'000'000;

/// A part of a time, in UTC or in the zone that the second argument names.
template <class Part>
Outcome part_of(Arguments arguments, Part part) {
    const auto* time = argument<Timestamp>(arguments, 0);
    if (time == nullptr) return no_such_overload();
    const Text* zone = argument<Text>(arguments, 1);
    const std::string_view name = zone ? zone->view() : std::string_view("UTC");
    const std::expected<CivilTime, std::string> civil = civil_time(*time, name);
    if (!civil) return failure(civil.error());
    return static_cast<std::int64_t>(part(*civil));
}

Outcome year(Arguments arguments) {
    return part_of(arguments, [](const CivilTime& civil) { return civil.year; });
}
Outcome month(Arguments arguments) {
    return part_of(arguments, [](const CivilTime& civil) { return civil.month; });
}
Outcome day_of_year(Arguments arguments) {
    return part_of(arguments, [](const CivilTime& civil) { return civil.day_of_year; });
}
Outcome day_of_month(Arguments arguments) {
    return part_of(arguments, [](const CivilTime& civil) { return civil.day - 1; });
}
Outcome date(Arguments arguments) {
    return part_of(arguments, [](const CivilTime& civil) { return civil.day; });
}
Outcome day_of_week(Arguments arguments) {
    return part_of(arguments, [](const CivilTime& civil) { return civil.weekday; });
}
Outcome hours(Arguments arguments) {
    if (const auto* duration = argument<Duration>(arguments, 0))
        return duration->nanoseconds / (3600 * kNano);
    return part_of(arguments, [](const CivilTime& civil) { return civil.hour; });
}
Outcome minutes(Arguments arguments) {
    if (const auto* duration = argument<Duration>(arguments, 0))
        return duration->nanoseconds / (60 * kNano);
    return part_of(arguments, [](const CivilTime& civil) { return civil.minute; });
}
Outcome seconds(Arguments arguments) {
    if (const auto* duration = argument<Duration>(arguments, 0))
        return duration->nanoseconds / kNano;
    return part_of(arguments, [](const CivilTime& civil) { return civil.second; });
}
Outcome milliseconds(Arguments arguments) {
    if (const auto* duration = argument<Duration>(arguments, 0))
        return duration->nanoseconds / 1'000'000;
    return part_of(arguments, [](const CivilTime& civil) { return civil.millisecond; });
}

constexpr NamedFunction kFunctions[] = {
    {"getFullYear", year},
    {"getMonth", month},
    {"getDayOfYear", day_of_year},
    {"getDayOfMonth", day_of_month},
    {"getDate", date},
    {"getDayOfWeek", day_of_week},
    {"getHours", hours},
    {"getMinutes", minutes},
    {"getSeconds", seconds},
    {"getMilliseconds", milliseconds},
};

}  // namespace

std::span<const NamedFunction> time_functions() { return kFunctions; }

}  // namespace muster::cel
