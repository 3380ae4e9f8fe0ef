#include "net/tls/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <optional>

#include "base/test_loop.h"
#include "net/forwarding_stream.h"
#include "net/memory_stream.h"
#include "net/tls/tls_fixture.h"

namespace muster::net::tls_test {
namespace {

using Handshake = Result<std::unique_ptr<TlsStream>>;

class Tls : public ::testing::Test, public SimulatedLoop {
  protected:
    /// Both sides' ends of a handshake.
    using Ends = std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>>;
    std::pair<Handshake, Handshake> handshake(TlsServerContext& server, TlsClientContext& client,
                                              std::string host) {
        return handshake(server, client, std::move(host),
                         make_memory_streams(context.get_executor()));
    }
    std::pair<Handshake, Handshake> handshake(TlsServerContext& server, TlsClientContext& client,
                                              std::string host, Ends ends) {
        auto& [near, far] = ends;
        std::optional<Handshake> accepted;
        asio::co_spawn(
            context, server.accept(std::move(far)),
            [&](std::exception_ptr, Handshake stream) { accepted.emplace(std::move(stream)); });
        auto connected = await(client.connect(std::move(near), std::move(host)));
        run_until([&] { return accepted.has_value(); });
        return {std::move(connected), *std::move(accepted)};
    }
    static Result<Code> outcome(const Handshake& handshake) {
        if (handshake) return Error(Code::kInternal, "it succeeded");
        return handshake.error().code();
    }

    const TlsFixture& made_ = TlsFixture::get();
};

TEST_F(Tls, AClientAcceptsTheNamesOfTheCertificateAndNoOthers) {
    auto server = made_.server_context(clock);
    auto client = made_.client_context(clock);
    const std::pair<const char*, bool>
        cases
            [] =
                {
                    {"127.0.0.1", true},   {"::1", true},        {"localhost", true},
                    {"LOCALHOST", true},   {"127.0.0.2", false}, {"::2", false},
                    {"server", false},  // the common name is not a name
                    {"localhost.", false}, {"local", false},
                };
    for (const auto& [host, accepted] : cases) {
        const auto [near, far] = handshake(*server, *client, host);
        EXPECT_EQ(near.has_value(), accepted) << host;
        if (!accepted && !near) EXPECT_EQ(near.error().code(), Code::kUnauthorized) << host;
    }
}

TEST_F(Tls, OneReadTakesAllRecordsThatAreHere) {
    auto server = made_.server_context(clock);
    auto client = made_.client_context(clock);
    const auto [near, far] = handshake(*server, *client, "localhost");
    for (const std::string text : {"one", "two", "three"})
        ASSERT_TRUE(await((*far)->write(asio::buffer(text))));
    ASSERT_TRUE(await((*far)->shut_down_write()));
    std::string read(100, '\0');
    EXPECT_EQ(await((*near)->read_some(asio::buffer(read, 4))).value(), 4u);
    EXPECT_EQ(read.substr(0, 4), "onet");
    EXPECT_EQ(await((*near)->read_some(asio::buffer(read))).value(), 7u);
    EXPECT_EQ(read.substr(0, 7), "wothree");
    EXPECT_EQ(await((*near)->read_some(asio::buffer(read))).value(), 0u);
}

/// Puts bytes that are no record behind what is read, once it is told to.
class Tampered final : public ForwardingStream {
  public:
    Tampered(std::unique_ptr<ByteStream> stream, bool& now)
        : ForwardingStream(std::move(stream)), now_(now) {}
    Task<Result<std::size_t>> read_some(asio::mutable_buffer into) override {
        CO_TRY(std::size_t size, co_await below().read_some(into));
        if (!std::exchange(now_, false)) co_return size;
        const std::string forged = std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'x');
        size += asio::buffer_copy(into + size, asio::buffer(forged));
        co_return size;
    }

  private:
    bool& now_;
};

TEST_F(Tls, WhatCameBeforeABrokenRecordIsReadAndThenWhatIsWrong) {
    auto server = made_.server_context(clock);
    auto client = made_.client_context(clock);
    bool tampers = false;
    auto [near, far] = make_memory_streams(context.get_executor());
    const auto [reader, writer] =
        handshake(*server, *client, "localhost",
                  {std::make_unique<Tampered>(std::move(near), tampers), std::move(far)});
    ASSERT_TRUE(await((*writer)->write(asio::buffer("good", 4))));
    tampers = true;
    std::string read(100, '\0');
    EXPECT_EQ(await((*reader)->read_some(asio::buffer(read))).value(), 4u);
    for (int times = 0; times < 2; ++times) {
        const auto failed = await((*reader)->read_some(asio::buffer(read)));
        ASSERT_FALSE(failed);
        EXPECT_THAT(failed.error().message(), testing::HasSubstr("bad record mac"));
    }
}

TEST_F(Tls, NamesThatAreNoneAreRefusedBeforeAnythingIsSent) {
    auto client = made_.client_context(clock);
    for (const std::string& host : {std::string(), std::string("a\0b", 3)}) {
        auto [near, far] = make_memory_streams(context.get_executor());
        const auto connected = await(client->connect(std::move(near), host));
        ASSERT_FALSE(connected);
        EXPECT_EQ(connected.error().code(), Code::kInvalid);
    }
}

TEST_F(Tls, AClientTrustsItsCaAlone) {
    auto other = make_ca("other CA", TlsFixture::validity());
    ASSERT_TRUE(other);
    auto server = made_.server_context(clock);
    auto client = TlsClientContext::create(clock, {.ca_pem = other->certificate});
    ASSERT_TRUE(client) << client.error().message();
    const auto [near, far] = handshake(*server, **client, "localhost");
    EXPECT_EQ(outcome(near).value(), Code::kUnauthorized);
    EXPECT_EQ(outcome(far).value(), Code::kUnavailable) << "the server gets an alert";
}

TEST_F(Tls, AClientMayTrustTheCertificateItself) {
    auto server = made_.server_context(clock);
    auto pinned = TlsClientContext::create(clock, {.ca_pem = made_.server.certificate});
    ASSERT_TRUE(pinned) << pinned.error().message();
    EXPECT_TRUE(handshake(*server, **pinned, "localhost").first);
    EXPECT_FALSE(handshake(*server, **pinned, "elsewhere").first) << "the name still counts";
    auto other = sign_server_certificate(
        made_.ca, "other", {.addresses = {}, .dns_names = {"localhost"}}, TlsFixture::validity());
    ASSERT_TRUE(other);
    auto wrong = TlsClientContext::create(clock, {.ca_pem = other->certificate});
    ASSERT_TRUE(wrong);
    EXPECT_FALSE(handshake(*server, **wrong, "localhost").first);
}

TEST_F(Tls, AClientThatTrustsAnyoneLooksAtNothing) {
    auto other = make_ca("other CA", TlsFixture::validity());
    ASSERT_TRUE(other);
    auto server = made_.server_context(clock);
    auto client =
        TlsClientContext::create(clock, {.ca_pem = other->certificate, .trust = Trust::kAnyone});
    ASSERT_TRUE(client) << client.error().message();
    const auto [near, far] = handshake(*server, **client, "elsewhere");
    EXPECT_TRUE(near) << near.error().message();
}

TEST_F(Tls, AClientThatTrustsThisMachinesCasDoesNotTrustOurs) {
    auto server = made_.server_context(clock);
    auto client =
        TlsClientContext::create(clock, {.ca_pem = made_.ca.certificate, .trust = Trust::kSystem});
    ASSERT_TRUE(client) << client.error().message();
    EXPECT_EQ(outcome(handshake(*server, **client, "localhost").first).value(),
              Code::kUnauthorized);
}

TEST_F(Tls, CertificatesAreJudgedByTheClock) {
    auto server = made_.server_context(clock);
    auto client = made_.client_context(clock);
    EXPECT_TRUE(handshake(*server, *client, "localhost").first);
    clock.skew_wall(-std::chrono::days(2));
    EXPECT_EQ(outcome(handshake(*server, *client, "localhost").first).value(), Code::kUnauthorized)
        << "not yet";
    clock.skew_wall(std::chrono::days(400));
    EXPECT_EQ(outcome(handshake(*server, *client, "localhost").first).value(), Code::kUnauthorized)
        << "no more";
}

TEST_F(Tls, AServerKnowsAClientByItsCertificate) {
    auto server = made_.server_context(clock, true);
    auto with = made_.client_context(clock, true);
    auto without = made_.client_context(clock);
    auto known = handshake(*server, *with, "localhost");
    ASSERT_TRUE(known.second) << known.second.error().message();
    EXPECT_EQ((*known.second)->peer_certificate(),
              (PeerCertificate{.common_name = "ada", .organizations = {"devs", "admins"}}));
    EXPECT_EQ((*known.second)->protocol(), "TLSv1.3");
    auto unknown = handshake(*server, *without, "localhost");
    ASSERT_TRUE(unknown.second) << unknown.second.error().message();
    EXPECT_EQ((*unknown.second)->peer_certificate(), std::nullopt);
}

TEST_F(Tls, AServerThatDemandsACertificateGoesNoFurtherWithoutOne) {
    auto server = TlsServerContext::create(clock, {.certificate_pem = made_.server.certificate,
                                                   .key_pem = made_.server.key,
                                                   .client_ca_pem = made_.ca.certificate,
                                                   .demand_certificate = true});
    ASSERT_TRUE(server) << server.error().message();
    EXPECT_TRUE(handshake(**server, *made_.client_context(clock, true), "localhost").second);
    EXPECT_EQ(
        outcome(handshake(**server, *made_.client_context(clock), "localhost").second).value(),
        Code::kUnavailable);
}

TEST_F(Tls, AServerDoesNotAskUnlessItHasACa) {
    auto server = made_.server_context(clock);
    auto client = made_.client_context(clock, true);
    auto [near, far] = handshake(*server, *client, "localhost");
    ASSERT_TRUE(far) << far.error().message();
    EXPECT_EQ((*far)->peer_certificate(), std::nullopt);
}

TEST_F(Tls, AServerRefusesAClientOfAnotherCaOrForAnotherPurpose) {
    auto server = made_.server_context(clock, true);
    auto other = make_ca("other CA", TlsFixture::validity());
    ASSERT_TRUE(other);
    auto foreign = sign_client_certificate(*other, {.common_name = "eve", .organizations = {}},
                                           TlsFixture::validity());
    ASSERT_TRUE(foreign);
    for (const KeyPair* pair : {static_cast<const KeyPair*>(&*foreign), &made_.server}) {
        auto client = TlsClientContext::create(clock, {.ca_pem = made_.ca.certificate,
                                                       .certificate_pem = pair->certificate,
                                                       .key_pem = pair->key});
        ASSERT_TRUE(client) << client.error().message();
        const auto [near, far] = handshake(*server, **client, "localhost");
        EXPECT_EQ(outcome(far).value(), Code::kUnauthorized);
    }
}

TEST_F(Tls, ContextsRefuseWhatDoesNotFitTogether) {
    const auto server = [&](std::string certificate, std::string key, std::string ca = "") {
        return TlsServerContext::create(clock, {.certificate_pem = std::move(certificate),
                                                .key_pem = std::move(key),
                                                .client_ca_pem = std::move(ca)});
    };
    EXPECT_EQ(server(made_.server.certificate, made_.client.key).error().code(), Code::kInvalid);
    EXPECT_EQ(server("", made_.server.key).error().code(), Code::kInvalid);
    EXPECT_EQ(server(made_.server.certificate, "").error().code(), Code::kInvalid);
    EXPECT_EQ(server(made_.server.certificate, made_.server.key, "no PEM").error().code(),
              Code::kInvalid);
    EXPECT_EQ(TlsClientContext::create(clock, {.ca_pem = ""}).error().code(), Code::kInvalid);
    EXPECT_TRUE(server(made_.server.certificate + made_.ca.certificate, made_.server.key))
        << "a chain";
}

TEST_F(Tls, SomethingElseThanTlsIsAnError) {
    auto server = made_.server_context(clock);
    auto [near, far] = make_memory_streams(context.get_executor());
    std::optional<Handshake> accepted;
    asio::co_spawn(
        context, server->accept(std::move(far)),
        [&](std::exception_ptr, Handshake stream) { accepted.emplace(std::move(stream)); });
    const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    ASSERT_TRUE(await(near->write(asio::buffer(request))));
    run_until([&] { return accepted.has_value(); });
    EXPECT_EQ(outcome(*accepted).value(), Code::kUnavailable);
    EXPECT_NE(accepted->error().message().find("http request"), std::string::npos)
        << accepted->error().message();
}

// It may have waited for its turn for long, and there may be many of them.
TEST_F(Tls, AClientThatHasGoneBeforeItsTurnCostsNoHandshake) {
    auto server = made_.server_context(clock);
    auto [near, far] = make_memory_streams(context.get_executor());
    const std::string words = "not looked at any more";
    ASSERT_TRUE(await(far->write(asio::buffer(words))));
    far->close();
    const auto accepted = await(server->accept(std::move(near)));
    ASSERT_FALSE(accepted);
    EXPECT_NE(accepted.error().message().find("ended the connection before"), std::string::npos)
        << accepted.error().message();
}

TEST_F(Tls, AClientThatGoesWithinTheHandshakeIsAnError) {
    auto server = made_.server_context(clock);
    auto [near, far] = make_memory_streams(context.get_executor());
    near->close();
    EXPECT_EQ(outcome(await(server->accept(std::move(far)))).value(), Code::kUnavailable);
}

}  // namespace
}  // namespace muster::net::tls_test
