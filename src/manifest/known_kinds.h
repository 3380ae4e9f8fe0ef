#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/kind.h"
#include "kube/objects/resource_type.h"
#include "kube/schema/schema.h"

namespace muster::manifest {

/// A kind that a manifest may hold.
struct KnownKind {
    kube::ResourceType type;
    kube::Schema::Ptr schema;                 ///< of the whole object
    const jobs::JobKind* job_kind = nullptr;  ///< null for the built-in ones
    bool listed = true;                       ///< where people are told what there is
    std::string_view note = {};  ///< what it does not do on one machine; empty: nothing
};

/// Every job kind, and the built-in kinds that jobs need with them.
const std::vector<KnownKind>& known_kinds();

struct Lookup {
    const KnownKind* known = nullptr;
    bool kind_is_known = false;  ///< only the apiVersion is wrong
    bool passed_over = false;    ///< it is left out of what runs, and no error
    std::string message;         ///< why not, and the alternatives
};
Lookup look_up(std::string_view api_version, std::string_view kind);

}  // namespace muster::manifest
