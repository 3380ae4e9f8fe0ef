#include "muster_run/hosting/connection.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/time/time_limit.h"
#include "net/tcp.h"

namespace muster::run {
namespace {

/// For one address: a machine that is gone answers nothing.
constexpr Duration kConnectTime = std::chrono::seconds(3);

template <class T>
Task<Result<T>> in_time(Clock& clock, Task<Result<T>> task) {
    std::optional<Result<T>> outcome = co_await within(clock, kConnectTime, std::move(task));
    if (!outcome) co_return Error(Code::kUnavailable, "nothing was heard for 3 s");
    co_return *std::move(outcome);
}

}  // namespace

MasterConnector::MasterConnector(asio::any_io_executor executor, Clock& clock,
                                 net::NameLookup& names, net::TlsClientContext* tls,
                                 std::vector<launch::Endpoint> endpoints)
    : executor_(std::move(executor)),
      clock_(clock),
      names_(names),
      tls_(tls),
      endpoints_(std::move(endpoints)) {}

Task<Result<std::unique_ptr<net::ByteStream>>> MasterConnector::connect() {
    std::string troubles;
    for (std::size_t i = 0; i < endpoints_.size(); ++i) {
        const std::size_t index = (first_ + i) % endpoints_.size();
        auto connected = co_await connect_to(endpoints_[index]);
        if (connected) {
            first_ = index;
            co_return connected;
        }
        troubles += fmt::format("{}{}: {}", troubles.empty() ? "" : "; ", endpoints_[index].text(),
                                connected.error().message());
    }
    co_return Error(Code::kUnavailable, std::move(troubles));
}

Task<Result<std::unique_ptr<net::ByteStream>>> MasterConnector::connect_to(
    launch::Endpoint endpoint) {
    CO_TRY(const std::vector<std::string> addresses, co_await names_.addresses(endpoint.host));
    Error last(Code::kUnavailable, "its name has no address");
    for (const std::string& address : addresses) {
        auto connected =
            co_await in_time(clock_, net::connect_tcp(executor_, address, endpoint.port));
        if (!connected) {
            last = std::move(connected).error();
            continue;
        }
        local_host_ = net::local_host(**connected);
        if (tls_ == nullptr) co_return connected;
        CO_TRY(std::unique_ptr<net::TlsStream> stream,
               co_await in_time(clock_, tls_->connect(*std::move(connected), endpoint.host)));
        co_return std::unique_ptr<net::ByteStream>(std::move(stream));
    }
    co_return last;
}

}  // namespace muster::run
