#include "runtime/internal/lifecycle/network_check.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "base/async/cancellation.h"
#include "base/lower_case.h"

namespace muster::runtime {

namespace {

namespace http = boost::beast::http;
using asio::ip::tcp;

/// Of an answer's header.
constexpr std::size_t kMaxHeader = std::size_t{64} * 1024;

CheckResult failure(std::string output) { return {.success = false, .output = std::move(output)}; }

Task<Result<tcp::socket>> connect(asio::any_io_executor executor, OpenSocket open, std::string host,
                                  std::uint16_t port) {
    CO_TRY(UniqueFd fd, open());
    boost::system::error_code error;
    const auto address = asio::ip::make_address_v4(host, error);
    if (error) co_return Error(Code::kInvalid, fmt::format("{} is not an address", host));
    tcp::socket socket(executor);
    socket.assign(tcp::v4(), fd.get(), error);
    if (error) co_return Error(Code::kInternal, error.message());
    (void)fd.release();
    co_await socket.async_connect(tcp::endpoint(address, port),
                                  asio::redirect_error(asio::use_awaitable, error));
    rethrow_cancellation(error);
    if (error)
        co_return Error(Code::kUnavailable,
                        fmt::format("connecting to {}:{}: {}", host, port, error.message()));
    co_return socket;
}

std::string request_text(const HttpCheck& check) {
    const auto given = [&](const char* name) {
        return std::ranges::any_of(check.headers, [&](const auto& header) {
            return equal_without_case(header.first, name);
        });
    };
    std::string text = fmt::format("GET {} HTTP/1.1\r\n", check.path);
    if (!given("Host")) text += fmt::format("Host: {}:{}\r\n", check.host, check.port);
    if (!given("User-Agent")) text += "User-Agent: kube-probe/muster\r\n";
    if (!given("Accept")) text += "Accept: */*\r\n";
    for (const auto& [name, value] : check.headers) text += fmt::format("{}: {}\r\n", name, value);
    return text + "Connection: close\r\n\r\n";
}

}  // namespace

Task<CheckResult> check_tcp(asio::any_io_executor executor, OpenSocket open, TcpCheck check) {
    auto socket = co_await connect(executor, std::move(open), check.host, check.port);
    if (!socket) co_return failure(socket.error().message());
    co_return CheckResult{.success = true, .output = {}};
}

Task<CheckResult> check_http(asio::any_io_executor executor, OpenSocket open, HttpCheck check) {
    auto socket = co_await connect(executor, std::move(open), check.host, check.port);
    if (!socket) co_return failure(socket.error().message());
    const auto broken = [&](const boost::system::error_code& error) {
        return failure(fmt::format("GET http://{}:{}{}: {}", check.host, check.port, check.path,
                                   error.message()));
    };
    const std::string request = request_text(check);
    boost::system::error_code error;
    co_await asio::async_write(*socket, asio::buffer(request),
                               asio::redirect_error(asio::use_awaitable, error));
    rethrow_cancellation(error);
    if (error) co_return broken(error);

    http::response_parser<http::empty_body> parser;
    parser.header_limit(kMaxHeader);
    parser.skip(true);  // the body does not matter
    std::string received;
    std::array<char, 4096> buffer{};
    while (!parser.is_header_done()) {
        const std::size_t size = co_await socket->async_read_some(
            asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, error));
        rethrow_cancellation(error);
        if (error) co_return broken(error);
        received.append(buffer.data(), size);
        const std::size_t used = parser.put(asio::buffer(received), error);
        if (error && error != http::error::need_more) co_return broken(error);
        received.erase(0, used);
        error.clear();
    }
    const unsigned status = parser.get().result_int();
    if (status >= 200 && status < 400) co_return CheckResult{.success = true, .output = {}};
    co_return failure(fmt::format("HTTP probe failed with statuscode: {}", status));
}

}  // namespace muster::runtime
