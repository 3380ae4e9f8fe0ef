#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

// An event is one object in two APIs: it is stored as v1, and events.k8s.io/v1 shows it under other
// names. Pure.

inline constexpr std::string_view kEventsApi = "events.k8s.io/v1";

/// Of v1, which is what is stored.
extern const VersionConversion kCoreEventConversion;
/// Of events.k8s.io/v1.
extern const VersionConversion kEventsApiConversion;

/// The fields that Go writes for every event of v1, whatever the client left out.
void complete_core_event(json::object& event);
/// The same for events.k8s.io/v1.
void complete_new_event(json::object& event);
/// An event of events.k8s.io/v1 with the names of v1, leaving its managedFields unchanged.
void name_as_core_event(json::object& event);

}  // namespace muster::apiserver
