#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "launch/endpoint.h"
#include "launch/plan.h"
#include "net/name_lookup.h"

namespace muster::run {

/// Where other nodes reach this one: an address and never a name, since a store knows its clients
/// by theirs.
struct OwnAddress {
    enum class By : std::uint8_t {
        kGiven,  ///< by a flag or POD_IP, or the job is on one machine: it stays
        kRoute,  ///< the one by which an endpoint is reached
        kGuess,  ///< no endpoint is elsewhere, or has an address yet
    };
    std::string text = {};
    By by = By::kGiven;
};

/// kInvalid: there is none. Plan, variables and names outlive the call.
Task<Result<OwnAddress>> own_address(const launch::LaunchPlan& plan,
                                     const launch::Variables& variables, launch::NodeNames node,
                                     net::NameLookup& names);

/// What to tell others by now. `reached_by`: this machine's address of a connection to the job's
/// master elsewhere; empty: there was none.
std::string address_now(const OwnAddress& own, const std::string& reached_by);

/// The other ones of these that may be seen from elsewhere; a few at most.
std::vector<std::string> other_addresses(const std::string& told,
                                         const std::vector<std::string>& all);

}  // namespace muster::run
