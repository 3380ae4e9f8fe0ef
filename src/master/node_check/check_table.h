#pragma once

#include <vector>

#include "master/node_check/node_check.h"
#include "master/service/service.h"

namespace muster::master {

/// The result of a finished check, for people: which nodes are faulty or slow, other findings, and
/// the figures with their units; figures of links only after a thorough check. If there are many,
/// only the slowest are shown.
std::vector<Notice> check_table(const NodeCheck& check);

}  // namespace muster::master
