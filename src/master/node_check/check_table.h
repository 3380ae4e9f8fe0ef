#pragma once

#include <vector>

#include "master/node_check/node_check.h"
#include "master/service/service.h"

namespace muster::master {

/// What a check that is over has found: who is faulty or slow, what else is strange, and the
/// figures with their units; those of links where they were measured thoroughly. Of many the
/// slowest are told.
std::vector<Notice> check_table(const NodeCheck& check);

}  // namespace muster::master
