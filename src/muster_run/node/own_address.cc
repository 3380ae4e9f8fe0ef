#include "muster_run/node/own_address.h"

#include <utility>

#include "launch/environment.h"
#include "muster_run/node/node_facts.h"

namespace muster::run {

Task<Result<std::string>> own_address(const launch::LaunchPlan& plan,
                                      const launch::Variables& variables, launch::NodeNames node,
                                      net::NameLookup& names) {
    launch::AddressChoices choices;
    choices.one_machine = plan.rendezvous.where == launch::Rendezvous::Where::kHere;
    choices.interfaces = std::move(node.addresses);
    if (const std::string* pod = launch::find_variable(variables, "POD_IP")) choices.pod_ip = *pod;
    if (!plan.local_addr.empty()) {
        auto found = co_await names.addresses(plan.local_addr);
        if (!found) co_return std::move(found).error().prefix("--local-addr " + plan.local_addr);
        choices.local_addr = found->front();
    } else if (!plan.rendezvous.endpoints.empty()) {
        // What has no address yet may have one soon; the agent says so if not.
        const auto found = co_await names.addresses(plan.rendezvous.endpoints.front().host);
        if (found) choices.towards_master = address_towards(found->front());
    }
    std::string address = launch::address_for_others(choices);
    if (address.empty())
        co_return Error(Code::kInvalid,
                        "this machine has no address that other nodes could reach: say one with "
                        "--local-addr");
    co_return address;
}

}  // namespace muster::run
