#pragma once

#include <cstdint>
#include <string>

#include "kube/schema/schema.h"

namespace muster::jobs {

enum class StatusForm : std::uint8_t;

/// The schema of `.status`; with members and plans for kinds that have them.
kube::Schema::Ptr status_schema(StatusForm form, bool rising_ids);

namespace schema_parts {

/// The schema of a `.spec` whose `runPolicy.managedBy` may name one more controller.
kube::Schema::Ptr with_controller(const kube::Schema::Ptr& spec, const std::string& controller);

kube::Schema::Ptr scalar(kube::Schema::Type type, std::string format = {});
kube::Schema::Ptr list_of(kube::Schema::Ptr items);
kube::Schema::Ptr map_of(kube::Schema::Ptr values);
/// An object with unknown keys.
kube::Schema::Ptr any_object();
/// Resource name to quantity, as in a container's limits.
kube::Schema::Ptr resource_list();

}  // namespace schema_parts

}  // namespace muster::jobs
