#include "muster_run/node/node_check_here.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/node_check/compute_probe.h"
#include "base/check.h"
#include "base/time/time_limit.h"
#include "net/port.h"
#include "net/tcp.h"

namespace muster::run {
namespace {

/// A machine that is gone answers nothing.
constexpr Duration kConnectTime = std::chrono::seconds(3);

Task<Result<std::unique_ptr<net::ByteStream>>> connect(asio::any_io_executor executor, Clock& clock,
                                                       std::string address, std::uint16_t port) {
    auto connected =
        co_await within(clock, kConnectTime, net::connect_tcp(std::move(executor), address, port));
    if (!connected) co_return Error(Code::kUnavailable, address + ": nothing was heard for 3 s");
    co_return *std::move(connected);
}

}  // namespace

Result<NodeCheckHere> NodeCheckHere::open(const asio::any_io_executor& executor, Clock& clock,
                                          bool alone) {
    auto listener =
        alone ? net::listen_tcp(executor, "127.0.0.1", 0) : net::listen_tcp_everywhere(executor, 0);
    if (!listener) return std::move(listener).error().prefix("the port of the node check");
    const std::string address = (*listener)->address();
    const auto own = net::parse_port(std::string_view(address).substr(address.rfind(':') + 1));
    CHECK(own.has_value(), "a listener says its port");
    NodeCheckHere here{
        .node = std::make_unique<agent::NodeCheck>(
            executor, clock,
            agent::NodeCheck::Parts{.connect =
                                        [executor, &clock](std::string to, std::uint16_t at) {
                                            return connect(executor, clock, std::move(to), at);
                                        },
                                    .compute = [&clock] { return agent::measure_compute(clock); }}),
        .port = *own};
    here.node->serve(*std::move(listener));
    return here;
}

}  // namespace muster::run
