#include "muster_run/node/node_store.h"

#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <array>

#include "base/test_loop.h"
#include "net/tcp.h"
#include "tcp_store/commands.h"

namespace muster::run::node_store_test {
namespace {

class NodeStoreTest : public ::testing::Test, protected RealLoop {
  protected:
    std::unique_ptr<NodeStore> open(StoreReach reach) {
        return NodeStore::open(context.get_executor(), clock, 0, {}, reach).value();
    }
    /// Whether a client that connects to that address gets an answer.
    bool answers(const NodeStore& store, const std::string& address) {
        auto stream = await(net::connect_tcp(context.get_executor(), address, store.port()));
        if (!stream) return false;
        const std::string asks =
            tcp_store::encode({.kind = tcp_store::StoreCommandKind::kValidate,
                               .number = tcp_store::kStoreMagic}) +
            tcp_store::encode({.kind = tcp_store::StoreCommandKind::kPing, .number = 1});
        if (!await((*stream)->write(asio::buffer(asks)))) return false;
        std::array<char, 8> bytes{};
        const auto size = await((*stream)->read_some(asio::buffer(bytes)));
        return size && *size == 4;
    }
};

TEST_F(NodeStoreTest, OfOneMachineIsForItsUserAtLoopbackAlone) {
    const auto store = open(StoreReach::kThisMachine);
    EXPECT_TRUE(answers(*store, "127.0.0.1"));
    if (net::listen_tcp(context.get_executor(), "::1", 0)) EXPECT_TRUE(answers(*store, "::1"));
    EXPECT_FALSE(answers(*store, "127.0.0.2")) << "nobody listens";
    if (::geteuid() == 0) {
        ::setfsuid(65534);
        EXPECT_FALSE(answers(*store, "127.0.0.1")) << "another user";
        EXPECT_FALSE(answers(*store, "::1")) << "another user";
        ::setfsuid(0);
    }
    await(store->stop());
}

TEST_F(NodeStoreTest, SaysThatThePortIsTaken) {
    for (const StoreReach reach : {StoreReach::kThisMachine, StoreReach::kWorld}) {
        const auto store = open(reach);
        const auto other = NodeStore::open(context.get_executor(), clock, store->port(), {}, reach);
        ASSERT_FALSE(other);
        EXPECT_EQ(other.error().code(), Code::kAlreadyExists);
        await(store->stop());
    }
}

TEST_F(NodeStoreTest, OfAWorldIsAtAllAddresses) {
    const auto store = open(StoreReach::kWorld);
    EXPECT_TRUE(answers(*store, "127.0.0.1"));
    EXPECT_TRUE(answers(*store, "127.0.0.2"));
    await(store->stop());
}

TEST(NodeStore, KnowsAnAddressWhicheverFamilyTellsIt) {
    EXPECT_EQ(host_of("10.0.0.7:51234"), "10.0.0.7");
    EXPECT_EQ(host_of("[::ffff:10.0.0.7]:51234"), "10.0.0.7");
    EXPECT_EQ(host_of("[fd00:0::1]:80"), "fd00::1");
    EXPECT_EQ(host_of("unix"), "unix");
}

}  // namespace
}  // namespace muster::run::node_store_test
