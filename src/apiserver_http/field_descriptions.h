#pragma once

#include <functional>
#include <string_view>

namespace muster::apiserver_http {

/// The description of a structure of the built-in kinds, or of one of its fields; "" if there is
/// none. `kubectl explain` and `muster explain` show it. Any thread.
std::string_view description_of(std::string_view structure, std::string_view field = {});

/// Every pair that has a description.
void for_each_description(
    const std::function<void(std::string_view structure, std::string_view field)>& visit);

}  // namespace muster::apiserver_http
