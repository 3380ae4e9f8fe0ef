#include "muster_run/node/own_address.h"

#include <utility>

#include "launch/environment.h"
#include "muster_run/node/node_facts.h"

namespace muster::run {
namespace {

/// Machines with more than these have them for their containers.
constexpr std::size_t kMostOthers = 16;
/// No machine has them, but they are routed like everything far away (RFC 5737, RFC 3849).
constexpr const char* kFarAway[] = {"192.0.2.1", "2001:db8::1"};

/// Empty if no other machine could use it.
std::string if_for_others(const std::string& address) {
    return launch::address_for_others({.towards_master = address});
}

/// The address by which this machine reaches the first endpoint that is elsewhere.
Task<std::string> towards_endpoints(const launch::LaunchPlan& plan, net::NameLookup& names) {
    for (const launch::Endpoint& endpoint : plan.rendezvous.endpoints) {
        // What has no address yet may have one soon; the agent says so if not.
        const auto found = co_await names.addresses(endpoint.host);
        if (!found) continue;
        std::string address = if_for_others(address_towards(found->front()));
        if (!address.empty()) co_return address;
    }
    co_return std::string();
}

}  // namespace

Task<Result<OwnAddress>> own_address(const launch::LaunchPlan& plan,
                                     const launch::Variables& variables, launch::NodeNames node,
                                     net::NameLookup& names) {
    using By = OwnAddress::By;
    launch::AddressChoices choices;
    choices.one_machine = plan.rendezvous.where == launch::Rendezvous::Where::kHere;
    if (const std::string* pod = launch::find_variable(variables, "POD_IP")) choices.pod_ip = *pod;
    if (!plan.local_addr.empty()) {
        auto found = co_await names.addresses(plan.local_addr);
        if (!found) co_return std::move(found).error().prefix("--local-addr " + plan.local_addr);
        choices.local_addr = found->front();
    }
    std::string address = launch::address_for_others(choices);
    if (!address.empty()) co_return OwnAddress{.text = std::move(address), .by = By::kGiven};
    address = co_await towards_endpoints(plan, names);
    if (!address.empty()) co_return OwnAddress{.text = std::move(address), .by = By::kRoute};
    for (const char* const far : kFarAway) choices.interfaces.push_back(address_towards(far));
    choices.interfaces.insert(choices.interfaces.end(), node.addresses.begin(),
                              node.addresses.end());
    address = launch::address_for_others(choices);
    if (address.empty())
        co_return Error(Code::kInvalid,
                        "this machine has no address that other nodes could reach: say one with "
                        "--local-addr");
    co_return OwnAddress{.text = std::move(address), .by = By::kGuess};
}

std::string address_now(const OwnAddress& own, const std::string& reached_by) {
    if (own.by == OwnAddress::By::kGiven) return own.text;
    std::string seen = if_for_others(reached_by);
    return seen.empty() ? own.text : seen;
}

std::vector<std::string> other_addresses(const std::string& told,
                                         const std::vector<std::string>& all) {
    std::vector<std::string> others;
    for (const std::string& address : all)
        if (address != told && others.size() < kMostOthers && !if_for_others(address).empty())
            others.push_back(address);
    return others;
}

}  // namespace muster::run
