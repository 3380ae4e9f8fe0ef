#pragma once

#include "base/async/side_thread.h"
#include "kube/values/json.h"
#include "store/object_text.h"

namespace muster::apiserver {

/// The object's tree, for a reader within the process. What is large is parsed beside the loop, if
/// there is a thread for it.
Task<kube::ObjectPtr> tree_beside(SideThread* side_thread, store::ObjectTextPtr object);

}  // namespace muster::apiserver
