#include "master/joining_node.h"

#include <algorithm>

namespace muster::master {

bool has_failed(const Report& report) {
    return report.holds && std::ranges::any_of(report.evidence, [&](const FailureReport& seen) {
               return seen.generation == report.holds->generation &&
                      seen.restarts == report.holds->restarts;
           });
}

Node node_of(const Hello& hello) {
    return {.incarnation = hello.incarnation,
            .slot = hello.slot,
            .address = hello.address,
            .addresses = hello.addresses,
            .local_size = hello.local_size,
            .rack = hello.rack,
            .store_port = hello.store_port,
            .holds = hello.report.holds,
            .gave_up = hello.report.gave_up,
            .failed = has_failed(hello.report)};
}

}  // namespace muster::master
