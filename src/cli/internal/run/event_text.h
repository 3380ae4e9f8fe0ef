#pragma once

#include <string>
#include <vector>

#include "cli/internal/run/views.h"

namespace muster::cli {

enum class Tone { kPlain, kGood, kBad };

/// One message for people.
struct Told {
    Tone tone = Tone::kPlain;
    std::string text;

    friend bool operator==(const Told&, const Told&) = default;
};

// What changed between two states of an object, in words. Pure; several changes in one update are
// reported in their natural order. A null pointer: the object did not exist, or is gone.

std::vector<Told> tell_pod(const PodView* before, const PodView* after);
std::vector<Told> tell_job(const JobView* before, const JobView* after);
/// Only warnings are worth a line; normal events are visible in the states.
std::vector<Told> tell_event(const EventView* before, const EventView* after);

/// Whether a warning repeats what a condition or a container's state shows.
bool repeats_a_state(const EventView& event);

/// "pods: 3 active, 0 succeeded, 0 failed of 3".
std::string tell_progress(const JobView& job);

/// "0.35 s", "12.3 s", "4 min 5 s", "2 h 3 min".
std::string tell_duration(double seconds);

}  // namespace muster::cli
