#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/test_loop.h"
#include "net/http/http_server.h"
#include "net/memory_stream.h"
#include "net/tls/tls_fixture.h"

namespace muster::net {

/// A server over memory on virtual time, and what its clients receive as text.
class ServerFixture : public ::testing::Test, public SimulatedLoop {
  protected:
    ServerFixture() {
        log::set_sink([this](log::Level level, std::string_view line) {
            if (level >= log::Level::kWarning) logged_.emplace_back(line);
        });
    }
    ~ServerFixture() override {
        stop();
        log::set_sink({});
    }

    /// For fixtures that own what its handlers use.
    void stop() {
        if (server_) await(server_->stop());
        server_.reset();
    }

    void start(HttpServer::Handler handler, HttpServerLimits limits = {}, bool tls = false) {
        auto listener = std::make_unique<MemoryListener>(context.get_executor());
        listener_ = listener.get();
        server_ =
            std::make_unique<HttpServer>(context.get_executor(), clock, limits, std::move(handler));
        if (tls) tls_ = TlsFixture::get().server_context(clock, true);
        server_->serve(std::move(listener), tls_.get());
    }
    /// For a handler that is not a coroutine. A handler that captures must not be one: it could be
    /// destroyed before its frame.
    static Task<void> answered() { co_return; }

    /// Answers with the request as the server understood it.
    void start_echo(HttpServerLimits limits = {}) {
        start(with_body([this](HttpExchange& exchange) -> Task<void> {
                  ++requests_;
                  const HttpRequest& request = exchange.request();
                  exchange.respond(200, {{"Content-Type", "text/plain"}},
                                   request.method + " " + request.target + " " + request.body);
                  return answered();
              }),
              limits);
    }

    std::unique_ptr<ByteStream> connect() {
        auto stream = listener_->connect();
        EXPECT_TRUE(stream);
        return *std::move(stream);
    }
    void send(ByteStream& stream, std::string text) {
        const auto written = await(write_text(stream, std::move(text)));
        EXPECT_TRUE(written) << written.error().message();
    }
    static Task<Result<void>> write_text(ByteStream& stream, std::string text) {
        co_return co_await stream.write(asio::buffer(text));
    }
    static Task<std::string> read_to_end(ByteStream& stream) {
        std::string all;
        std::string piece(4096, '\0');
        for (;;) {
            const auto size = co_await stream.read_some(asio::buffer(piece));
            if (!size) co_return all + "[cut]";
            if (*size == 0) co_return all;
            all.append(piece, 0, *size);
        }
    }
    static Task<std::string> read_until(ByteStream& stream, std::string end) {
        std::string all;
        char byte = 0;
        while (!all.ends_with(end)) {
            const auto size = co_await stream.read_some(asio::buffer(&byte, 1));
            if (!size || *size == 0) co_return all + "[ended]";
            all += byte;
        }
        co_return all;
    }
    /// Everything that arrives in answer to `text` up to the end of the connection, which the
    /// client does not end first.
    std::string conversation(std::string text) {
        auto stream = connect();
        send(*stream, std::move(text));
        return await(read_to_end(*stream));
    }
    static std::string status_line(std::string_view answer) {
        return std::string(answer.substr(0, answer.find("\r\n")));
    }
    static std::string body_of(std::string_view answer) {
        const std::size_t at = answer.find("\r\n\r\n");
        return at == std::string_view::npos ? "no head" : std::string(answer.substr(at + 4));
    }
    static std::size_t count(std::string_view text, std::string_view part) {
        std::size_t found = 0;
        for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at)
            ++found;
        return found;
    }

    MemoryListener* listener_ = nullptr;
    std::unique_ptr<TlsServerContext> tls_;
    std::unique_ptr<HttpServer> server_;
    std::vector<std::string> logged_;
    int requests_ = 0;
};

}  // namespace muster::net
