#pragma once

#include <string>

#include "base/result.h"
#include "launch/endpoint.h"
#include "launch/plan.h"
#include "net/name_lookup.h"

namespace muster::run {

/// Where other nodes reach this one: an address and never a name, since a store knows its clients
/// by theirs. kInvalid: there is none. Plan, variables and names outlive the call.
Task<Result<std::string>> own_address(const launch::LaunchPlan& plan,
                                      const launch::Variables& variables, launch::NodeNames node,
                                      net::NameLookup& names);

}  // namespace muster::run
