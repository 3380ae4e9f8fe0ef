#pragma once

#include <memory>

#include "jobs/kind.h"
#include "kube/client/client.h"
#include "operator/internal/cache/owned_objects.h"

namespace muster::operators {

/// Makes one owned object, or writes it again where it differs; true when it was made. `known`: as
/// a cache has it, which need not be asked for; null where none does.
///
/// One without the job's label, which no cache has, gets it: upstream's operators give it to none.
///
/// Nothing that another owner controls is touched: that is kAlreadyExists, with a message for
/// people that names the object. What is on its way and wants another try is kConflict. The client
/// outlives the call.
Task<Result<bool>> ensure_owned_object(kube::Client& client, OwnedObjectPtr known,
                                       std::shared_ptr<const jobs::Job> job,
                                       jobs::OwnedObject wanted);

}  // namespace muster::operators
