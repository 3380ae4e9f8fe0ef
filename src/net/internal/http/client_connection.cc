#include "net/internal/http/client_connection.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lower_case.h"
#include "net/internal/prefixed_stream.h"

namespace muster::net {

namespace {

constexpr std::size_t kBuffer = std::size_t{16} * 1024;

/// The answer to a HEAD has none, and what follows the answer to a CONNECT is from the server
/// behind the proxy.
bool answered_without_body(std::string_view method) {
    return method == "HEAD" || method == "CONNECT";
}

bool has_body_by_nature(std::string_view method) {
    return method == "POST" || method == "PUT" || method == "PATCH";
}

}  // namespace

Result<std::string> request_head(const HttpRequest& request, std::string_view host) {
    const bool target_fits =
        !request.target.empty() && std::ranges::all_of(request.target, [](char letter) {
            const auto byte = static_cast<unsigned char>(letter);
            return byte > 0x20 && byte != 0x7f;
        });
    if (!target_fits)
        return Error(Code::kBadRequest,
                     fmt::format("\"{}\" is not a target of a request", request.target));
    if (!is_valid_header(request.method, ""))
        return Error(Code::kBadRequest, fmt::format("\"{}\" is not a method", request.method));
    std::string head = fmt::format("{} {} HTTP/1.1\r\n", request.method, request.target);
    if (!request.headers.contains("Host")) head.append("Host: ").append(host).append("\r\n");
    for (const HttpHeader field : request.headers) {
        if (!is_valid_header(field.name, field.value))
            return Error(Code::kBadRequest,
                         fmt::format("the header \"{}\" has a name or value that can't be sent",
                                     field.name));
        if (equal_without_case(field.name, "Content-Length") ||
            equal_without_case(field.name, "Transfer-Encoding"))
            continue;
        head.append(field.name).append(": ").append(field.value).append("\r\n");
    }
    if (!request.body.empty() || has_body_by_nature(request.method))
        head.append(fmt::format("Content-Length: {}\r\n", request.body.size()));
    return head + "\r\n";
}

ClientConnection::ClientConnection(const asio::any_io_executor& executor,
                                   std::unique_ptr<ByteStream> stream, HttpMessageLimits limits)
    : stream_(std::move(stream)), watch_(executor), parser_(limits) {}

Task<Result<bool>> ClientConnection::receive() {
    if (buffer_.empty()) buffer_.resize(kBuffer);
    CO_TRY(const std::size_t size, co_await stream_->read_some(asio::buffer(buffer_)));
    if (size == 0) ended_ = true;
    received_.append(buffer_.data(), size);
    co_return size > 0;
}

Result<void> ClientConnection::parse() {
    while (!received_.empty() && !parser_.done()) {
        const auto used = parser_.put(received_);
        if (!used)
            return Error(Code::kTimeout, fmt::format("the answer of {} can't be read: {}",
                                                     stream_->peer_address(), used.error().reason));
        received_.erase(0, *used);
        if (*used == 0) break;
    }
    return {};
}

Task<Result<void>> ClientConnection::exchange(const std::string& head, const HttpRequest& request,
                                              Progress& progress) {
    parser_.begin(response_, answered_without_body(request.method));
    progress.sent = true;
    const Result<void> written =
        co_await stream_->write({asio::buffer(head), asio::buffer(request.body)});
    // A server that refuses a request may answer before it has read everything; its answer is worth
    // more than the write error.
    for (;;) {
        CO_TRY_VOID(parse());
        if (parser_.head_done()) {
            const bool interim = response_.status < 200 && response_.status != 101;
            if (!interim) break;
            parser_.begin(response_, answered_without_body(request.method));
            continue;
        }
        CO_TRY(const bool more, co_await receive());
        if (more) progress.received = true;
        if (!more && !written) co_return written.error();
        if (!more)
            co_return Error(Code::kTimeout, fmt::format("{} ended the connection without an answer",
                                                        stream_->peer_address()));
    }
    co_return Result<void>();
}

Task<Result<bool>> ClientConnection::receive_body() {
    if (parser_.done()) co_return false;
    const std::size_t had = response_.body.size();
    do {
        CO_TRY(const bool more, co_await receive());
        if (!more) {
            if (!parser_.put_end())
                co_return Error(Code::kTimeout,
                                fmt::format("{} ended the connection within an answer",
                                            stream_->peer_address()));
            break;
        }
        CO_TRY_VOID(parse());
    } while (!parser_.done() && response_.body.size() == had);
    co_return !parser_.done() || response_.body.size() > had;
}

bool ClientConnection::gather() { return !parser_.done() && !ended_ && stream_->gather(); }

bool ClientConnection::reusable() const {
    return parser_.done() && parser_.keep_alive() && !ended_ && received_.empty() &&
           !response_.headers.has_token("Connection", "close");
}

Task<void> ClientConnection::watch_idle() {
    (void)co_await receive();
    ended_ = true;
    stream_->close();
}

std::unique_ptr<ByteStream> ClientConnection::take_stream() {
    return make_prefixed_stream(std::move(received_), std::move(stream_));
}

}  // namespace muster::net
