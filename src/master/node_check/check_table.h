#pragma once

#include <string>
#include <vector>

#include "master/node_check/node_check.h"

namespace muster::master {

/// A line for people.
struct CheckLine {
    bool warns = false;
    std::string text;

    friend bool operator==(const CheckLine&, const CheckLine&) = default;
};

/// What a check that is over has found: who is faulty or slow, what else is strange, and the
/// figures with their units; those of links where they were measured thoroughly. Of many the
/// slowest are told.
std::vector<CheckLine> check_table(const NodeCheck& check);

}  // namespace muster::master
