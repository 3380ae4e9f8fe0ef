#include "rpc/method.h"

#include <gmock/gmock.h>
#include <muster/rpc/frame.pb.h>

#include "rpc/rpc_fixture.h"

namespace muster::rpc::method_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// Any messages do: those of the protocol itself are there.
constexpr Call<wire::Hello, wire::Welcome> kGreet{"greet"};
constexpr Stream<wire::Cancel, wire::Cancel> kCount{"count"};
constexpr Note<wire::Cancel> kNote{"note"};

class RpcMethods : public RpcFixture {
  protected:
    RpcMethods() {
        Server& server = make_server();
        rpc::serve(server, kGreet,
                   [](PeerPtr peer, wire::Hello hello) -> Task<Result<wire::Welcome>> {
                       if (hello.client().empty()) co_return Error(Code::kInvalid, "who?");
                       wire::Welcome welcome;
                       welcome.set_server(peer->about + " is " + hello.client());
                       co_return welcome;
                   });
        rpc::serve(server, kCount,
                   [](PeerPtr, wire::Cancel to, ItemSink<wire::Cancel> out) -> Task<Result<void>> {
                       for (std::uint64_t i = 1; i <= to.id(); ++i) {
                           wire::Cancel item;
                           item.set_id(i);
                           CO_TRY_VOID(co_await out.write(item));
                       }
                       co_return Result<void>();
                   });
        rpc::serve(server, kNote,
                   [this](const PeerPtr&, wire::Cancel note) { notes.push_back(note.id()); });
        serve(server);
    }

    std::vector<std::uint64_t> notes;
};

TEST_F(RpcMethods, TakeAndGiveMessages) {
    Client& client = make_client();
    wire::Hello hello;
    EXPECT_EQ(await(call(client, kGreet, hello, 1s)).error().code(), Code::kInvalid);
    hello.set_client("me");
    const auto welcome = await(call(client, kGreet, hello, 1s));
    ASSERT_TRUE(welcome);
    EXPECT_EQ(welcome->server(), "a test is me");

    wire::Cancel number;
    number.set_id(3);
    auto items = await(rpc::open(client, kCount, number));
    ASSERT_TRUE(items);
    for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_EQ((**await((*items)->next())).id(), i);
    const auto end = await((*items)->next());
    EXPECT_TRUE(end && !*end);

    EXPECT_TRUE(await(tell(client, kNote, number)));
    settle();
    EXPECT_THAT(notes, ElementsAre(3));
}

TEST_F(RpcMethods, WhatIsNoSuchMessageIsSaidToBeNone) {
    Client& client = make_client();
    EXPECT_EQ(await(client.call("greet", "\xff", 1s)).error().message(),
              "greet: what came is no message of it");
    settle();
    EXPECT_TRUE(await(client.tell("note", "\xff")));
    settle();
    EXPECT_THAT(notes, ElementsAre());
    EXPECT_TRUE(client.connected());
}

}  // namespace
}  // namespace muster::rpc::method_test
