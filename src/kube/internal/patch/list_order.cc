#include "kube/internal/patch/list_order.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <tuple>
#include <vector>

#include "kube/schema/schema.h"

namespace muster::kube {

ListIdentity::ListIdentity(const Schema* list)
    : key_(list == nullptr ? "" : list->patch_merge_key) {}

std::string ListIdentity::of(const json::value& item) const {
    if (key_.empty()) return json::serialize(item);
    const json::object* object = item.if_object();
    const json::value* key = object == nullptr ? nullptr : object->if_contains(key_);
    return key == nullptr ? std::string() : json::serialize(*key);
}

ListPositions::ListPositions(const json::array& list, const ListIdentity& identity) {
    for (std::size_t i = 0; i < list.size(); ++i) by_id_.emplace(identity.of(list[i]), i);
}

std::size_t ListPositions::of(const std::string& id) const {
    auto it = by_id_.find(id);
    return it == by_id_.end() ? kNone : it->second;
}

json::array in_merge_order(json::array merged, const json::array& wanted, const json::array& server,
                           const ListIdentity& identity) {
    struct Item {
        std::size_t place;         ///< in `wanted`, or in `merged` for the server's own
        std::size_t server_place;  ///< ListPositions::kNone for a new one
        std::size_t index;         ///< in `merged`
    };
    const ListPositions in_wanted(wanted, identity);
    const ListPositions in_server(server, identity);
    std::vector<Item> named;
    std::vector<Item> others;
    for (std::size_t i = 0; i < merged.size(); ++i) {
        const std::string id = identity.of(merged[i]);
        const std::size_t place = in_wanted.of(id);
        if (place == ListPositions::kNone)
            others.push_back({i, in_server.of(id), i});
        else
            named.push_back({place, in_server.of(id), i});
    }
    std::sort(named.begin(), named.end(), [](const Item& a, const Item& b) {
        return std::tie(a.place, a.index) < std::tie(b.place, b.index);
    });

    json::array ordered;
    ordered.reserve(merged.size());
    auto take = [&](const Item& item) { ordered.push_back(std::move(merged[item.index])); };
    std::size_t next = 0;
    for (const Item& item : named) {
        while (next < others.size() && item.server_place != ListPositions::kNone &&
               others[next].server_place < item.server_place)
            take(others[next++]);
        take(item);
    }
    while (next < others.size()) take(others[next++]);
    return ordered;
}

}  // namespace muster::kube
