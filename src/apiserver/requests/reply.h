#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/transport/transport.h"
#include "store/object_text.h"

namespace muster::apiserver {

/// The answer to a request that was served: a stored object, as it rests, or a body of its own. One
/// that was not served is answered with a StatusError.
struct Reply {
    int status = 200;
    store::ObjectTextPtr object = nullptr;  ///< the body, where it is one object of the resource
    kube::ObjectPtr body = nullptr;         ///< else; of a list all but its `items`
    std::optional<std::vector<store::ObjectTextPtr>> items = {};  ///< of a list
    std::vector<std::string> warnings = {};
};

/// 201 with a Status: what was asked for is done, and there is no object of it.
Reply created_status();

/// For a caller in the process. `items_apart`: as kube::Request has it.
kube::Response to_response(Reply reply, bool items_apart);

}  // namespace muster::apiserver
