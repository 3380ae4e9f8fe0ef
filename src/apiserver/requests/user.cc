#include "apiserver/requests/user.h"

#include <algorithm>

namespace muster::apiserver {

bool User::in_group(std::string_view group) const {
    return std::ranges::find(groups, group) != groups.end();
}

}  // namespace muster::apiserver
