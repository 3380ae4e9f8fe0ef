#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <filesystem>
#include <fstream>

#include "net/byte_stream_contract_test.h"
#include "net/memory_stream.h"
#include "net/tcp.h"
#include "net/tls/tls_fixture.h"

namespace muster::net::byte_stream_test {
namespace {

namespace fs = std::filesystem;
using Ends = std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>>;

/// A directory of this test alone, gone with it.
class Folder {
  public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "muster-net-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no directory for a test");
        path_ = name;
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

/// Both ends of a connection that `listener` accepts.
Ends accept_one(TestLoop& loop, Listener& listener,
                Task<Result<std::unique_ptr<ByteStream>>> connecting) {
    std::optional<Result<std::unique_ptr<ByteStream>>> accepted;
    asio::co_spawn(loop.context, listener.accept(),
                   [&](std::exception_ptr, Result<std::unique_ptr<ByteStream>> stream) {
                       accepted.emplace(std::move(stream));
                   });
    auto near = loop.await(std::move(connecting));
    loop.run_until([&] { return accepted.has_value(); });
    if (!near || !*accepted) throw std::runtime_error("no connection");
    return {*std::move(near), **std::move(accepted)};
}

/// TLS over both ends of a connection.
Ends encrypt(TestLoop& loop, TlsServerContext& server, TlsClientContext& client, Ends below) {
    std::optional<Result<std::unique_ptr<TlsStream>>> accepted;
    asio::co_spawn(loop.context, server.accept(std::move(below.second)),
                   [&](std::exception_ptr, Result<std::unique_ptr<TlsStream>> stream) {
                       accepted.emplace(std::move(stream));
                   });
    auto near = loop.await(client.connect(std::move(below.first), "127.0.0.1"));
    loop.run_until([&] { return accepted.has_value(); });
    if (!near) throw std::runtime_error(near.error().message());
    if (!*accepted) throw std::runtime_error(accepted->error().message());
    return {*std::move(near), **std::move(accepted)};
}

struct MemoryWorld {
    TestLoop& loop() { return loop_; }
    Ends connect() { return make_memory_streams(loop_.context.get_executor(), 5000); }
    static bool tells_cuts() { return false; }
    SimulatedLoop loop_;
};

struct TcpWorld {
    TestLoop& loop() { return loop_; }
    Ends connect() {
        auto listener = listen_tcp(loop_.context.get_executor(), "127.0.0.1", 0);
        EXPECT_TRUE(listener) << listener.error().message();
        const std::string address = (*listener)->address();
        const auto port =
            static_cast<std::uint16_t>(std::stoi(address.substr(address.find(':') + 1)));
        return accept_one(loop_, **listener,
                          connect_tcp(loop_.context.get_executor(), "127.0.0.1", port));
    }
    static bool tells_cuts() { return false; }
    RealLoop loop_;
};

struct UnixWorld {
    TestLoop& loop() { return loop_; }
    Ends connect() {
        auto listener = listen_unix(loop_.context.get_executor(), folder_.path() / "socket");
        EXPECT_TRUE(listener) << listener.error().message();
        return accept_one(loop_, **listener,
                          connect_unix(loop_.context.get_executor(), folder_.path() / "socket"));
    }
    static bool tells_cuts() { return false; }
    Folder folder_;
    RealLoop loop_;
};

template <class Below>
struct TlsWorld {
    TestLoop& loop() { return below_.loop(); }
    Ends connect() { return encrypt(loop(), *server_, *client_, below_.connect()); }
    static bool tells_cuts() { return true; }
    Below below_;
    FixedCalendar clock_{below_.loop_.clock};
    std::unique_ptr<TlsServerContext> server_ = TlsFixture::get().server_context(clock_);
    std::unique_ptr<TlsClientContext> client_ = TlsFixture::get().client_context(clock_);
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, ByteStreamContract, MemoryWorld);
INSTANTIATE_TYPED_TEST_SUITE_P(Tcp, ByteStreamContract, TcpWorld);
INSTANTIATE_TYPED_TEST_SUITE_P(Unix, ByteStreamContract, UnixWorld);
INSTANTIATE_TYPED_TEST_SUITE_P(TlsOverMemory, ByteStreamContract, TlsWorld<MemoryWorld>);
INSTANTIATE_TYPED_TEST_SUITE_P(TlsOverTcp, ByteStreamContract, TlsWorld<TcpWorld>);

class Sockets : public ::testing::Test, public RealLoop {
  protected:
    auto executor() { return context.get_executor(); }
    Folder folder_;
};

TEST_F(Sockets, ConstBuffersAreCountedAndConsumedAcrossPieces) {
    const std::string a = "abc", b = "de";
    ConstBuffers buffers{asio::buffer(a), asio::buffer(b)};
    EXPECT_EQ(buffers.size(), 5u);
    buffers.consume(4);
    EXPECT_EQ(buffers.to_string(), "e");
    buffers.consume(1);
    EXPECT_EQ(buffers.size(), 0u);
}

TEST_F(Sockets, AddressesThatAreNoneAreRefused) {
    for (const char* address : {"", "localhost", "300.1.1.1", "example.org", "1.2.3.4:5"}) {
        const auto listener = listen_tcp(executor(), address, 0);
        ASSERT_FALSE(listener) << address;
        EXPECT_EQ(listener.error().code(), Code::kInvalid) << address;
    }
}

TEST_F(Sockets, EverywhereIsBothFamilies) {
    auto everywhere = listen_tcp_everywhere(executor(), 0);
    ASSERT_TRUE(everywhere) << everywhere.error().message();
    const std::string address = (*everywhere)->address();
    const auto port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    EXPECT_TRUE(await(connect_tcp(executor(), "127.0.0.1", port)));
    if (address.starts_with("[")) EXPECT_TRUE(await(connect_tcp(executor(), "::1", port)));
    const auto second = listen_tcp_everywhere(executor(), port);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), Code::kAlreadyExists);
}

TEST_F(Sockets, APortThatIsTakenIsSaid) {
    auto first = listen_tcp(executor(), "127.0.0.1", 0);
    ASSERT_TRUE(first) << first.error().message();
    const std::string address = (*first)->address();
    ASSERT_TRUE(address.starts_with("127.0.0.1:")) << address;
    const auto port = static_cast<std::uint16_t>(std::stoi(address.substr(10)));
    const auto second = listen_tcp(executor(), "127.0.0.1", port);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), Code::kAlreadyExists);
    (*first)->close();
    EXPECT_TRUE(listen_tcp(executor(), "127.0.0.1", port)) << "free again at once";
}

TEST_F(Sockets, NobodyListensMeansUnavailable) {
    auto listener = listen_tcp(executor(), "127.0.0.1", 0);
    ASSERT_TRUE(listener);
    const auto port = static_cast<std::uint16_t>(std::stoi((*listener)->address().substr(10)));
    (*listener)->close();
    const auto connected = await(connect_tcp(executor(), "localhost", port));
    ASSERT_FALSE(connected);
    EXPECT_EQ(connected.error().code(), Code::kUnavailable);
}

TEST_F(Sockets, AClosedListenerEndsWhoAccepts) {
    auto listener = listen_tcp(executor(), "127.0.0.1", 0);
    ASSERT_TRUE(listener);
    std::optional<Code> ended;
    asio::co_spawn(context, (*listener)->accept(),
                   [&](std::exception_ptr, Result<std::unique_ptr<ByteStream>> stream) {
                       ended = stream ? Code::kInternal : stream.error().code();
                   });
    settle();
    EXPECT_FALSE(ended);
    (*listener)->close();
    run_until([&] { return ended.has_value(); });
    EXPECT_EQ(*ended, Code::kCancelled);
}

TEST_F(Sockets, AUnixSocketIsPrivateAndGoesWithItsListener) {
    const fs::path path = folder_.path() / "made" / "socket";
    auto listener = listen_unix(executor(), path);
    ASSERT_TRUE(listener) << listener.error().message();
    EXPECT_EQ((*listener)->address(), "unix:" + path.string());
    struct stat found{};
    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u);
    ASSERT_EQ(::stat(path.parent_path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700u);
    (*listener)->close();
    EXPECT_FALSE(fs::exists(path));
    const auto connected = await(connect_unix(executor(), path));
    ASSERT_FALSE(connected);
    EXPECT_EQ(connected.error().code(), Code::kNotFound);
}

TEST_F(Sockets, ALiveUnixListenerKeepsItsPlaceAndADeadOneLosesIt) {
    const fs::path path = folder_.path() / "socket";
    {
        auto first = listen_unix(executor(), path);
        ASSERT_TRUE(first) << first.error().message();
        const auto second = listen_unix(executor(), path);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().code(), Code::kAlreadyExists);
    }
    // A listener that was killed: its file exists, and nothing listens.
    const int dead = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.native().copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(dead, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ::close(dead);
    ASSERT_TRUE(fs::exists(path));
    auto next = listen_unix(executor(), path);
    ASSERT_TRUE(next) << next.error().message();
    auto connected = await(connect_unix(executor(), path));
    EXPECT_TRUE(connected) << connected.error().message();
}

TEST_F(Sockets, AUnixSocketReplacesNoOtherFile) {
    const fs::path path = folder_.path() / "file";
    std::ofstream(path) << "precious";
    const auto listener = listen_unix(executor(), path);
    ASSERT_FALSE(listener);
    EXPECT_EQ(listener.error().code(), Code::kAlreadyExists);
    EXPECT_TRUE(fs::is_regular_file(path));
}

TEST_F(Sockets, AUnixSocketNeedsADirectoryThatIsOursAlone) {
    const fs::path open = folder_.path() / "open";
    fs::create_directory(open);
    fs::permissions(open, fs::perms::all);
    const auto listener = listen_unix(executor(), open / "socket");
    ASSERT_FALSE(listener);
    EXPECT_EQ(listener.error().code(), Code::kForbidden);
    EXPECT_EQ(listen_unix(executor(), folder_.path() / std::string(120, 'x')).error().code(),
              Code::kInvalid);
}

class Memory : public ::testing::Test, public SimulatedLoop {};

TEST_F(Memory, AListenerIsReachedByACall) {
    MemoryListener listener(context.get_executor());
    auto client = listener.connect();
    ASSERT_TRUE(client);
    auto server = await(listener.accept());
    ASSERT_TRUE(server);
    std::string bytes(3, ' ');
    const std::string sent = "abc";
    ASSERT_TRUE(await((*client)->write(asio::buffer(sent))));
    ASSERT_EQ(*await((*server)->read_some(asio::buffer(bytes))), 3u);
    EXPECT_EQ(bytes, "abc");
}

TEST_F(Memory, AClosedListenerTakesNobody) {
    MemoryListener listener(context.get_executor());
    auto waiting = listener.connect();
    ASSERT_TRUE(waiting);
    listener.close();
    EXPECT_EQ(listener.connect().error().code(), Code::kUnavailable);
    EXPECT_EQ(await(listener.accept()).error().code(), Code::kCancelled);
    char byte = 0;
    EXPECT_EQ(*await((*waiting)->read_some(asio::buffer(&byte, 1))), 0u) << "it was dropped";
}

}  // namespace
}  // namespace muster::net::byte_stream_test
