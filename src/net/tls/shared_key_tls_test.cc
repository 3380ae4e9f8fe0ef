#include "net/tls/shared_key_tls.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <optional>

#include "base/test_loop.h"
#include "net/byte_stream_contract_test.h"
#include "net/forwarding_stream.h"
#include "net/memory_stream.h"
#include "net/tls/tls_fixture.h"

namespace muster::net::shared_key_tls_test {
namespace {

using Handshake = Result<std::unique_ptr<TlsStream>>;

const std::string kSecret(32, 's');
const std::string kOther(32, 'o');

std::unique_ptr<SharedKeyTls> keys(const std::string& secret, std::string_view purpose = "test") {
    auto made = SharedKeyTls::create(secret, purpose);
    EXPECT_TRUE(made) << made.error().message();
    return *std::move(made);
}

/// Keeps what is written to the stream below, for whoever listens on the way.
class Recorded final : public ForwardingStream {
  public:
    Recorded(std::unique_ptr<ByteStream> stream, std::string& written)
        : ForwardingStream(std::move(stream)), written_(written) {}
    Task<Result<void>> write(ConstBuffers bytes) override {
        written_ += bytes.to_string();
        return below().write(bytes);
    }
    /// Everything comes by write().
    std::size_t write_now(ConstBuffers) override { return 0; }

  private:
    std::string& written_;
};

class SharedKeyTlsTest : public ::testing::Test, public SimulatedLoop {
  protected:
    /// Both sides' ends of what they make of a connection.
    std::pair<Handshake, Handshake> both(Task<Handshake> client, Task<Handshake> server) {
        std::optional<Handshake> accepted;
        asio::co_spawn(context, std::move(server), [&](std::exception_ptr, Handshake stream) {
            accepted.emplace(std::move(stream));
        });
        auto connected = await(std::move(client));
        // Of TLS 1.3 the client is done first: what the server says to its last words comes later.
        run_until([&] { return accepted.has_value(); });
        return {std::move(connected), *std::move(accepted)};
    }
    std::pair<Handshake, Handshake> handshake(SharedKeyTls& client, SharedKeyTls& server) {
        auto [near, far] = make_memory_streams(context.get_executor());
        return both(client.connect(std::move(near)), server.accept(std::move(far)));
    }
    static Code code(const Handshake& handshake) {
        return handshake ? Code::kInternal : handshake.error().code();
    }
};

TEST_F(SharedKeyTlsTest, WhoKnowsTheSecretIsLetIn) {
    auto one = keys(kSecret), other = keys(kSecret);
    const auto [near, far] = handshake(*one, *other);
    ASSERT_TRUE(near) << near.error().message();
    ASSERT_TRUE(far) << far.error().message();
    EXPECT_EQ((*near)->protocol(), "TLSv1.3");
    EXPECT_FALSE((*far)->peer_certificate());
}

TEST_F(SharedKeyTlsTest, WhoKnowsAnotherOneIsRefusedAndRefuses) {
    auto one = keys(kSecret), other = keys(kOther), elsewhere = keys(kSecret, "else");
    for (SharedKeyTls* stranger : {other.get(), elsewhere.get()}) {
        const auto asked = handshake(*stranger, *one);
        EXPECT_EQ(code(asked.first), Code::kUnauthorized) << "a client with a wrong secret";
        EXPECT_EQ(code(asked.second), Code::kUnauthorized);
        const auto served = handshake(*one, *stranger);
        EXPECT_EQ(code(served.first), Code::kUnauthorized) << "a server with a wrong secret";
        EXPECT_EQ(code(served.second), Code::kUnauthorized);
    }
}

TEST_F(SharedKeyTlsTest, ACertificateIsNoSecret) {
    auto ours = keys(kSecret);
    auto server = TlsFixture::get().server_context(clock);
    auto client = TlsFixture::get().client_context(clock);
    {
        auto [near, far] = make_memory_streams(context.get_executor());
        const auto ends = both(ours->connect(std::move(near)), server->accept(std::move(far)));
        EXPECT_EQ(code(ends.first), Code::kUnauthorized);
    }
    auto [near, far] = make_memory_streams(context.get_executor());
    const auto ends =
        both(client->connect(std::move(near), "localhost"), ours->accept(std::move(far)));
    EXPECT_FALSE(ends.first);
    EXPECT_EQ(code(ends.second), Code::kUnauthorized);
}

TEST_F(SharedKeyTlsTest, WhatWasRecordedIsWorthNothing) {
    auto ours = keys(kSecret);
    std::string sent;
    {
        auto [near, far] = make_memory_streams(context.get_executor());
        const auto ends = both(ours->connect(std::make_unique<Recorded>(std::move(near), sent)),
                               ours->accept(std::move(far)));
        ASSERT_TRUE(ends.first && ends.second);
        const std::string command = "rm everything";
        ASSERT_TRUE(await((*ends.first)->write(asio::buffer(command))));
        EXPECT_EQ(sent.find(command), std::string::npos) << "it is encrypted";
        EXPECT_EQ(sent.find(kSecret), std::string::npos);
    }
    auto [near, far] = make_memory_streams(context.get_executor());
    ByteStream& played = *near;
    const auto play = [&]() -> Task<Handshake> {
        CO_TRY_VOID(co_await played.write(asio::buffer(sent)));
        char answer[1];
        CO_TRY(const std::size_t size, co_await played.read_some(asio::buffer(answer)));
        (void)size;
        co_return Error(Code::kUnavailable, "the recording is over");
    };
    const auto ends = both(play(), ours->accept(std::move(far)));
    EXPECT_EQ(code(ends.second), Code::kUnauthorized);
}

TEST_F(SharedKeyTlsTest, AnEndOfTheConnectionIsNoRefusal) {
    auto ours = keys(kSecret);
    auto [near, far] = make_memory_streams(context.get_executor());
    far.reset();
    EXPECT_EQ(code(await(ours->connect(std::move(near)))), Code::kUnavailable);
}

TEST_F(SharedKeyTlsTest, AShortSecretIsNone) {
    const auto made = SharedKeyTls::create(std::string(31, 'x'), "test");
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), Code::kInvalid);
}

}  // namespace
}  // namespace muster::net::shared_key_tls_test
