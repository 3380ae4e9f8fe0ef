#pragma once

#include <string>

#include "base/time/clock.h"
#include "master/membership.h"

namespace muster::master {

/// For people: how many nodes have joined, and which slots have none. Many are not all listed.
std::string who_is_missing(const Shortage& shortage, Instant now);

}  // namespace muster::master
