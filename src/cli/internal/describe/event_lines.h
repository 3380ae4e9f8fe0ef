#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "cli/internal/objects/object_table.h"
#include "kube/values/json.h"

namespace muster::cli {

/// The subject of an event.
struct EventSubject {
    std::string kind;  ///< "Pod"
    std::string name;
    std::string uid;  ///< empty: any of that name
};

/// Whether an event of either API is about `subject`. Pure.
bool is_about(const json::value& event, const EventSubject& subject);

/// When an event was last seen, in the API's time format; "" if it does not say.
std::string last_seen(const json::value& event);

/// Events as rows, oldest first. `with_object`: adds a column with the subject of each. Pure.
ObjectTable event_table(std::vector<kube::ObjectPtr> events, WallTime now, bool with_object);

}  // namespace muster::cli
