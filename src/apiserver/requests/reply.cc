#include "apiserver/requests/reply.h"

#include <boost/json.hpp>

namespace muster::apiserver {

Reply created_status() {
    Reply reply;
    reply.status = 201;
    reply.body = std::make_shared<const json::value>(json::object{{"kind", "Status"},
                                                                  {"apiVersion", "v1"},
                                                                  {"metadata", json::object()},
                                                                  {"status", "Success"},
                                                                  {"code", 201}});
    return reply;
}

kube::Response to_response(Reply reply, bool items_apart) {
    kube::Response response;
    response.status = reply.status;
    response.warnings = std::move(reply.warnings);
    response.body = reply.object != nullptr ? reply.object->tree() : std::move(reply.body);
    if (!reply.items) return response;
    if (items_apart) {
        response.items.reserve(reply.items->size());
        for (const store::ObjectTextPtr& item : *reply.items)
            response.items.push_back(item->tree());
        return response;
    }
    json::object whole = response.body->get_object();
    json::array& items = whole["items"].emplace_array();
    items.reserve(reply.items->size());
    for (const store::ObjectTextPtr& item : *reply.items) items.push_back(*item->tree());
    response.body = std::make_shared<const json::value>(std::move(whole));
    return response;
}

}  // namespace muster::apiserver
