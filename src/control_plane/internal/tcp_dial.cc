#include "control_plane/internal/tcp_dial.h"

#include <fmt/format.h>

#include "net/tcp.h"

namespace muster::control_plane {

Task<Result<std::unique_ptr<net::ByteStream>>> dial_tcp(asio::any_io_executor executor,
                                                        net::NameLookup& names,
                                                        apiserver::NetworkPort to) {
    CO_TRY(const std::vector<std::string> addresses, co_await names.addresses(to.host));
    Result<std::unique_ptr<net::ByteStream>> stream =
        Error(Code::kUnavailable, fmt::format("{} has no address", to.host));
    for (const std::string& address : addresses) {
        stream = co_await net::connect_tcp(executor, address, to.number);
        if (stream) break;
    }
    co_return stream;
}

}  // namespace muster::control_plane
