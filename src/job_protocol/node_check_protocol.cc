#include "job_protocol/node_check_protocol.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace muster::job_protocol {
namespace {

constexpr std::uint64_t kDayMs = 86'400'000;
constexpr std::uint64_t kDayNs = kDayMs * 1'000'000;

double figure(double told) { return std::isfinite(told) && told > 0 ? told : 0; }

}  // namespace

job::Check to_wire(const Check& check) {
    job::Check out;
    out.set_epoch(check.epoch);
    out.set_round(check.round);
    out.set_compute(check.compute);
    for (const CheckPeer& peer : check.dials) {
        job::CheckPeer& one = *out.add_dials();
        one.set_incarnation(peer.incarnation);
        one.set_address(peer.address);
        one.set_port(peer.port);
    }
    out.set_thorough(check.thorough);
    out.set_secret(check.secret);
    out.set_limit_ms(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(check.limit).count()));
    return out;
}

Check from_wire(const job::Check& check) {
    Check out{.epoch = check.epoch(),
              .round = check.round(),
              .compute = check.compute(),
              .thorough = check.thorough(),
              .secret = check.secret(),
              .limit = std::chrono::milliseconds(std::min(check.limit_ms(), kDayMs))};
    for (const job::CheckPeer& peer : check.dials())
        out.dials.push_back(
            {.incarnation = peer.incarnation(), .address = peer.address(), .port = peer.port()});
    return out;
}

job::CheckResult to_wire(const CheckResult& result) {
    job::CheckResult out;
    out.set_epoch(result.epoch);
    out.set_round(result.round);
    out.set_flops(result.flops);
    out.set_memory_bytes(result.memory_bytes);
    for (const LinkFigures& link : result.links) {
        job::LinkFigures& one = *out.add_links();
        one.set_peer(link.peer);
        one.set_trouble(link.trouble);
        one.set_round_trip_ns(static_cast<std::uint64_t>(link.round_trip.count()));
        one.set_bytes_out(link.bytes_out);
        one.set_bytes_in(link.bytes_in);
    }
    out.set_trouble(result.trouble);
    return out;
}

CheckResult from_wire(const job::CheckResult& result) {
    CheckResult out{.epoch = result.epoch(),
                    .round = result.round(),
                    .flops = figure(result.flops()),
                    .memory_bytes = figure(result.memory_bytes()),
                    .links = {},
                    .trouble = result.trouble()};
    for (const job::LinkFigures& link : result.links())
        out.links.push_back({.peer = link.peer(),
                             .trouble = link.trouble(),
                             .round_trip = Duration(static_cast<Duration::rep>(
                                 std::min(link.round_trip_ns(), kDayNs))),
                             .bytes_out = figure(link.bytes_out()),
                             .bytes_in = figure(link.bytes_in())});
    return out;
}

}  // namespace muster::job_protocol
