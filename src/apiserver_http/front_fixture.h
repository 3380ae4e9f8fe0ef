#pragma once

#include "apiserver/server_fixture.h"
#include "apiserver_http/http_front.h"
#include "net/http/http_client.h"
#include "net/memory_stream.h"

namespace muster::apiserver_http {

/// A started server behind HTTP over memory, and a client with the admin's token.
class FrontFixture : public apiserver::ServerFixture {
  protected:
    explicit FrontFixture(apiserver::ApiServerOptions options = {}, FrontOptions front = {},
                          apiserver::AccessOptions access = {})
        : apiserver::ServerFixture(options),
          front_options_(std::move(front)),
          access_(std::move(access)) {
        access_.admin_token = "secret";
        front_.emplace(*server_, access_, front_options_);
        auto listener = std::make_unique<net::MemoryListener>(context.get_executor());
        listener_ = listener.get();
        http_.serve(std::move(listener));
    }
    ~FrontFixture() override {
        await(http_.stop());
        await(client_.stop());
    }

    static net::HttpRequest request(std::string method, std::string target, std::string body = "",
                                    net::HttpHeaders headers = {}) {
        net::HttpRequest made;
        made.method = std::move(method);
        made.target = std::move(target);
        made.body = std::move(body);
        made.headers = std::move(headers);
        if (!made.headers.contains("Authorization"))
            made.headers.add("Authorization", "Bearer secret");
        return made;
    }
    net::HttpResponse send(net::HttpRequest made) {
        Result<net::HttpResponse> answer =
            await(client_.call(std::move(made), std::chrono::seconds(10)));
        if (!answer) {
            ADD_FAILURE() << answer.error().message();
            return {};
        }
        return *std::move(answer);
    }
    net::HttpResponse get(std::string target, std::string_view accept = "application/json") {
        return send(request("GET", std::move(target), "", {{"Accept", accept}}));
    }
    net::HttpResponse post(std::string target, std::string body,
                           std::string_view type = "application/json") {
        return send(request("POST", std::move(target), std::move(body), {{"Content-Type", type}}));
    }
    /// A request of the admin that acts as another user.
    net::HttpResponse as(std::string_view user, std::string method, std::string target,
                         std::string body = "", std::string_view type = "application/json") {
        return send(request(std::move(method), std::move(target), std::move(body),
                            {{"Impersonate-User", user}, {"Content-Type", type}}));
    }
    static json::value parsed(const net::HttpResponse& answer) { return json::parse(answer.body); }
    static std::string reason(const net::HttpResponse& answer) {
        return fmt::format("{} {}", answer.status,
                           std::string(parsed(answer).at("reason").as_string()));
    }
    /// "allowed", or the message of a Status.
    static std::string verdict(const net::HttpResponse& answer) {
        return answer.status < 300 ? "allowed"
                                   : std::string(parsed(answer).at("message").as_string());
    }
    std::unique_ptr<net::HttpBody> open(std::string target, std::string_view accept = "*/*") {
        auto body = await(client_.stream(
            request("GET", std::move(target), "", {{"Accept", accept}}), std::chrono::seconds(10)));
        EXPECT_TRUE(body.has_value());
        return *std::move(body);
    }
    /// The next `count` lines of an open stream.
    std::vector<std::string> lines(net::HttpBody& body, std::size_t count) {
        std::string text;
        while (std::ranges::count(text, '\n') < static_cast<std::ptrdiff_t>(count)) {
            auto piece = await(body.read());
            if (!piece || !*piece) break;
            text += **piece;
        }
        std::vector<std::string> found;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('\n', at);
            found.push_back(text.substr(at, end - at));
            at = end + 1;
        }
        return found;
    }

    const std::string kPods = "/api/v1/namespaces/default/pods";
    const std::string kMaps = "/api/v1/namespaces/default/configmaps";

    FrontOptions front_options_;
    apiserver::AccessOptions access_;
    std::optional<HttpFront> front_;
    net::MemoryListener* listener_ = nullptr;
    /// What requests and answers may take together.
    static constexpr std::size_t kInFlight = std::size_t{8} * 1024 * 1024;
    std::shared_ptr<net::ByteBudget> budget_ = std::make_shared<net::ByteBudget>(kInFlight);
    net::HttpServer http_{
        context.get_executor(), clock, {.budget = budget_}, [this](net::HttpExchange& exchange) {
            return front_->serve(exchange);
        }};
    net::HttpClient client_{context.get_executor(), clock,
                            [this]() -> Task<Result<std::unique_ptr<net::ByteStream>>> {
                                co_return listener_->connect();
                            }};
};

}  // namespace muster::apiserver_http
