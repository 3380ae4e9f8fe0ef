#include "apiserver/authentication/user_info.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace muster::apiserver {

json::object user_info(const User& user) {
    json::object info{{"username", user.name}};
    if (!user.uid.empty()) info["uid"] = user.uid;
    if (!user.groups.empty()) info["groups"] = json::array(user.groups.begin(), user.groups.end());
    if (!user.extra.empty()) {
        json::object& extra = info["extra"].emplace_object();
        for (const auto& [key, values] : user.extra)
            extra[key] = json::array(values.begin(), values.end());
    }
    return info;
}

}  // namespace muster::apiserver
