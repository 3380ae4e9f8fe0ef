#pragma once

#include <cstdint>
#include <memory>

#include "jobs/kind.h"
#include "kube/client/client.h"
#include "operator/internal/cache/owned_objects.h"

namespace muster::operators {

enum class OwnedObjectOutcome : std::uint8_t { kWasRight, kMade, kCorrected };

/// Whether the state in a cache is as it should be.
bool is_right(const OwnedObjectPtr& known, const jobs::Job& job, const jobs::OwnedObject& wanted);

/// Makes one owned object, or corrects it if it differs. `known` is its state in a cache, which
/// saves a request; null if no cache has it.
///
/// An object without the job's label, which no cache has, gets the label: upstream's operators set
/// it on none.
///
/// An object that another owner controls is not touched: that is kAlreadyExists, with a message for
/// people that names the object. kConflict means that something is in progress and has to be tried
/// again. The client outlives the call.
Task<Result<OwnedObjectOutcome>> ensure_owned_object(kube::Client& client, OwnedObjectPtr known,
                                                     std::shared_ptr<const jobs::Job> job,
                                                     jobs::OwnedObject wanted);

}  // namespace muster::operators
