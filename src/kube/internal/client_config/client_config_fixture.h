#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/log.h"
#include "base/test_loop.h"
#include "kube/client_config/server_connection.h"
#include "net/http/http_server.h"
#include "net/http/proxy_tunnel.h"
#include "net/tcp.h"
#include "net/tls/tls_fixture.h"

namespace muster::kube {

/// A server behind TLS on a real socket, files in a folder of their own, and a clock for the client
/// that the test moves.
class AccessFixture : public testing::Test, public RealLoop {
  protected:
    /// What the server received in a request.
    struct Seen {
        std::string authorization;
        std::string common_name;  ///< of the client's certificate
        std::string method;
        friend bool operator==(const Seen&, const Seen&) = default;
    };

    AccessFixture() {
        std::string pattern = testing::TempDir() + "muster-access-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder");
        folder_ = pattern;
        log::set_sink([this](log::Level level, std::string_view line) {
            if (level >= log::Level::kWarning) logged_.emplace_back(line);
        });
        auto listener = net::listen_tcp(context.get_executor(), "127.0.0.1", 0);
        if (!listener) throw std::runtime_error(listener.error().message());
        port_ = port_of(**listener);
        server_.serve(*std::move(listener), tls_.get());
        access_.file = "/k/config";
        access_.context = "c";
        access_.user = "u";
        access_.url = {.tls = true, .host = "127.0.0.1", .port = port_};
        access_.ca.text = net::TlsFixture::get().ca.certificate;
    }
    ~AccessFixture() override {
        if (connection_) await(connection_->stop());
        connection_.reset();
        await(server_.stop());
        log::set_sink({});
        std::filesystem::remove_all(folder_);
    }

    static std::uint16_t port_of(const net::Listener& listener) {
        const std::string address = listener.address();
        return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    }
    std::string path(const std::string& name) const { return folder_ + "/" + name; }
    /// Replaces the file in one step, as programs exchange such files.
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name + ".new")) << text;
        std::filesystem::rename(path(name + ".new"), path(name));
        return path(name);
    }
    std::string read(const std::string& name) const {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }

    static net::KeyPair client_certificate(const std::string& name) {
        return net::sign_client_certificate(net::TlsFixture::get().ca,
                                            {.common_name = name, .organizations = {}},
                                            net::TlsFixture::validity())
            .value();
    }

    void open() {
        auto opened =
            ServerConnection::open(access_, environment_, context.get_executor(), client_clock_);
        ASSERT_TRUE(opened) << opened.error().message();
        connection_ = *std::move(opened);
    }
    static Request request(Method method = Method::kGet) {
        Request made;
        made.method = method;
        made.path = "/api/v1/pods";
        if (method == Method::kPost) made.body = std::make_shared<const json::value>("{}");
        return made;
    }
    /// The status of an answer, or why there is none.
    std::string call(Method method = Method::kGet) {
        const auto answer = await(connection_->objects().call(request(method)));
        return answer ? std::to_string(answer->status) : answer.error().message();
    }
    void pass(Duration time) { client_clock_.advance_to(client_clock_.now() + time); }

    /// What the server received since the last call.
    std::vector<std::string> authorizations() {
        std::vector<std::string> all;
        for (Seen& one : std::exchange(seen_, {})) all.push_back(std::move(one.authorization));
        return all;
    }
    std::vector<std::string> names() {
        std::vector<std::string> all;
        for (Seen& one : std::exchange(seen_, {})) all.push_back(std::move(one.common_name));
        return all;
    }

    std::string folder_;
    std::vector<std::string> logged_;
    std::vector<Seen> seen_;
    /// Decides the status of the answer to a request.
    std::function<unsigned(const Seen&)> judge_ = [](const Seen&) { return 200; };
    std::uint16_t port_ = 0;
    ClientConfig access_;
    std::vector<std::string> environment_ = {"PATH=/usr/bin:/bin"};
    SimClock client_clock_{net::TlsFixture::kFrom};
    std::unique_ptr<ServerConnection> connection_;

  private:
    Task<void> answer(net::HttpExchange& exchange) {
        const net::HttpRequest& asked = exchange.request();
        Seen one{
            .authorization = std::string(asked.headers.find("Authorization").value_or("")),
            .common_name = asked.client_certificate ? asked.client_certificate->common_name : "",
            .method = asked.method};
        seen_.push_back(one);
        exchange.respond(judge_(one), {{"Content-Type", "application/json"}}, "{}");
        co_return;
    }

    net::FixedCalendar server_clock_{clock};
    std::unique_ptr<net::TlsServerContext> tls_ =
        net::TlsFixture::get().server_context(server_clock_, true);
    net::HttpServer server_{context.get_executor(), server_clock_, {}, [this](auto& exchange) {
                                return answer(exchange);
                            }};
};

}  // namespace muster::kube
