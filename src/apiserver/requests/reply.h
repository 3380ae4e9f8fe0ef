#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/transport/transport.h"
#include "store/object_text.h"

namespace muster::apiserver {

/// The answer to a request that was served: a stored object as text, or another body. A request
/// that was not served is answered with a StatusError.
struct Reply {
    int status = 200;
    store::ObjectTextPtr object = nullptr;  ///< the body, if it is one object of the resource
    kube::ObjectPtr body = nullptr;         ///< otherwise; of a list all but its `items`
    std::optional<std::vector<store::ObjectTextPtr>> items = {};  ///< of a list
    std::vector<std::string> warnings = {};
};

/// 201 with a Status: the request was carried out, and there is no object to return.
Reply created_status();

/// For a caller in the process. `items_apart`: see kube::Request.
kube::Response to_response(Reply reply, bool items_apart);

}  // namespace muster::apiserver
