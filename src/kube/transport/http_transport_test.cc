#include "kube/transport/http_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_loop.h"
#include "net/http/http_server.h"
#include "net/http/web_socket.h"
#include "net/memory_stream.h"

namespace muster::kube::http_transport_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(HttpTransport, TargetsAreEscaped) {
    Request request;
    request.path = "/api/v1/namespaces/a b/pods/x:y%z";
    EXPECT_EQ(request_target(request), "/api/v1/namespaces/a%20b/pods/x:y%25z");
    request.path = "/api/v1/pods";
    request.query = {{"labelSelector", "a=b,c in (d)"}, {"watch", "true"}, {"n", "\xc3\xa9"}};
    EXPECT_EQ(request_target(request),
              "/api/v1/pods?labelSelector=a%3Db%2Cc%20in%20%28d%29&watch=true&n=%C3%A9");
}

TEST(HttpTransport, WarningsAreQuotedTexts) {
    EXPECT_THAT(parse_warnings(R"(299 - "one")"), ElementsAre("one"));
    EXPECT_THAT(parse_warnings(R"(299 - "a \"b\" \\c", 299 - "d, e")"),
                ElementsAre("a \"b\" \\c", "d, e"));
    EXPECT_THAT(parse_warnings(R"(299 - "cut)"), ElementsAre("cut"));
    EXPECT_THAT(parse_warnings("299 - none"), IsEmpty());
    EXPECT_THAT(parse_warnings(""), IsEmpty());
    EXPECT_THAT(parse_warnings(R"(")"), ElementsAre(""));
}

class HttpTransportOnServer : public ::testing::Test, public SimulatedLoop {
  protected:
    /// A stream on which nothing comes.
    Task<void> stay(net::HttpExchange& exchange) {
        if (!co_await exchange.begin(200, {})) co_return;
        co_await clock.sleep_for(std::chrono::hours(1));
    }
};

TEST_F(HttpTransportOnServer, SendsWhatItsOptionsSay) {
    std::vector<std::string> seen;
    net::HttpServer server(context.get_executor(), clock, {},
                           [&](net::HttpExchange& exchange) -> Task<void> {
                               const net::HttpRequest& request = exchange.request();
                               for (const char* name : {"Accept", "Authorization"})
                                   seen.emplace_back(request.headers.find(name).value_or("none"));
                               seen.push_back(request.target);
                               exchange.respond(200, {}, "{}");
                               co_return;
                           });
    auto listener = std::make_unique<net::MemoryListener>(context.get_executor());
    net::MemoryListener& door = *listener;
    server.serve(std::move(listener));
    net::HttpClient client(
        context.get_executor(), clock,
        [&]() -> Task<Result<std::unique_ptr<net::ByteStream>>> { co_return door.connect(); });
    FixedToken credentials("t");
    HttpTransport transport(client, credentials,
                            {.path_prefix = "/clusters/a", .accept = "application/json;as=Table"});
    Request request;
    request.path = "/api/v1/pods";
    EXPECT_TRUE(await(transport.call(request)));
    EXPECT_THAT(seen,
                ElementsAre("application/json;as=Table", "Bearer t", "/clusters/a/api/v1/pods"));
    await(client.stop());
    await(server.stop());
}

TEST_F(HttpTransportOnServer, AWatchLastsNoLongerThanItHadTo) {
    net::HttpServer server(context.get_executor(), clock, {},
                           [&](net::HttpExchange& exchange) { return stay(exchange); });
    auto listener = std::make_unique<net::MemoryListener>(context.get_executor());
    net::MemoryListener& door = *listener;
    server.serve(std::move(listener));
    net::HttpClient client(
        context.get_executor(), clock,
        [&]() -> Task<Result<std::unique_ptr<net::ByteStream>>> { co_return door.connect(); });
    FixedToken credentials("");
    HttpTransport transport(client, credentials, {.overtime = std::chrono::seconds(30)});
    Request request;
    request.path = "/api/v1/pods";
    request.query = {{"watch", "true"}, {"timeoutSeconds", "300"}};
    auto stream = await(transport.watch(request));
    ASSERT_TRUE(stream) << stream.error().message();
    const Instant begun = clock.now();
    const auto event = await((*stream)->next());
    ASSERT_FALSE(event);
    EXPECT_EQ(event.error().code(), Code::kTimeout);
    EXPECT_THAT(event.error().message(), testing::HasSubstr("330 s"));
    EXPECT_EQ(clock.now() - begun, std::chrono::seconds(330));
    stream->reset();
    await(client.stop());
    await(server.stop());
}

/// Serves WebSockets of one protocol below /good, and refuses all else.
Task<void> serve_sockets(net::HttpExchange& exchange) {
    if (exchange.request().path() != "/good") {
        exchange.respond(403, {},
                         R"({"kind":"Status","reason":"Forbidden","code":403,"message":"no"})");
        co_return;
    }
    auto socket = co_await net::accept_web_socket(exchange, {"v5"}, {});
    if (socket) std::ignore = co_await (*socket)->write(false, "hello");
}

TEST_F(HttpTransportOnServer, ConnectsToWhatIsUpgradedAndSaysWhyNot) {
    net::HttpServer server(context.get_executor(), clock, {}, serve_sockets);
    auto listener = std::make_unique<net::MemoryListener>(context.get_executor());
    net::MemoryListener& door = *listener;
    server.serve(std::move(listener));
    net::HttpClient client(
        context.get_executor(), clock,
        [&]() -> Task<Result<std::unique_ptr<net::ByteStream>>> { co_return door.connect(); });
    FixedToken credentials("t");
    HttpTransport transport(client, credentials, {});
    Request request;
    request.path = "/good";
    auto socket = await(transport.connect(request, {"v5", "v4"}));
    ASSERT_TRUE(socket) << socket.error().message();
    EXPECT_EQ((*socket)->protocol(), "v5");
    const auto message = await((*socket)->read());
    ASSERT_TRUE(message && *message);
    EXPECT_EQ((*message)->bytes, "hello");
    socket->reset();
    request.path = "/bad";
    const auto refused = await(transport.connect(request, {"v5"}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kForbidden);
    EXPECT_EQ(refused.error().message(), "no");
    await(client.stop());
    await(server.stop());
}

}  // namespace
}  // namespace muster::kube::http_transport_test
