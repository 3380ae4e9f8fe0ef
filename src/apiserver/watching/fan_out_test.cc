#include "apiserver/watching/fan_out.h"

#include <gmock/gmock.h>

#include <boost/asio/post.hpp>

#include "apiserver/objects/text_fields.h"
#include "apiserver/server_fixture.h"
#include "apiserver/watching/watcher.h"
#include "base/async/task_fault.h"

namespace muster::apiserver::fan_out_test {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::ElementsAre;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr std::size_t kReaders = 200;
constexpr std::size_t kAtOnce = 32;  // are woken without a turn

/// Watches and their readers, as the server has them for remote clients.
class FanOutTest : public ServerFixture {
  protected:
    struct Reader {
        std::unique_ptr<kube::WatchStream> stream;
        std::vector<std::string> pieces;  ///< what it was told, and what of that at once

        Watcher& watcher() { return static_cast<Watcher&>(*stream); }
    };

    ~FanOutTest() override {
        stop();
        await(tasks.join());
    }

    Reader& open() {
        readers.push_back(std::make_unique<Reader>(open_watch(kMaps)));
        return *readers.back();
    }
    /// Until the end, or so many pieces.
    Task<void> read(Reader& reader, std::size_t pieces) {
        while (reader.pieces.size() < pieces) {
            std::optional<WatchedEvent> event = co_await reader.watcher().next_text();
            if (!event) co_return;
            std::string piece;
            for (; event; event = reader.watcher().try_next()) piece += name_of(*event->text);
            reader.pieces.push_back(std::move(piece));
            ++told;
            clock.advance_to(clock.now() + time_of_a_write);
        }
    }
    Task<void> create(std::string name) {
        json::value body{{"metadata", {{"name", name}}}};
        auto made = co_await client->create(kube::types::kConfigMaps, "default", std::move(body));
        EXPECT_TRUE(made.has_value());
    }
    /// Returns when some readers have been woken, and remembers how many.
    Task<void> create_until_some_are_told(std::string name) {
        co_await create(std::move(name));
        while (told == 0) co_await asio::post(context, asio::use_awaitable);
        told_meanwhile = told;
    }
    Task<void> create_two() {
        co_await create_until_some_are_told("a");
        co_await create("b");
    }
    Task<void> read_in_process(kube::WatchStream& stream) {
        EXPECT_TRUE((co_await stream.next()).has_value());
        told_meanwhile = told;
    }
    Task<void> create_and_end_watches(std::string name, std::size_t left) {
        co_await create_until_some_are_told(std::move(name));
        readers.resize(left);
    }

    TaskGroup tasks{context.get_executor()};
    std::unique_ptr<kube::Client> client = std::make_unique<kube::Client>(*server_);
    std::vector<std::unique_ptr<Reader>> readers;
    Duration time_of_a_write{};
    std::size_t told = 0;
    std::size_t told_meanwhile = kReaders;
};

TEST_F(FanOutTest, WhoeverHasNotBeenToldOfAChangeIsToldOfTheNextWithIt) {
    for (std::size_t i = 0; i < kReaders; ++i) tasks.spawn("reader", read(open(), 2));
    settle();
    await(create_two());
    settle();
    EXPECT_LT(told_meanwhile, kReaders) << "the second change had to wait for all readers";
    std::size_t at_once = 0;
    for (const auto& reader : readers) {
        EXPECT_THAT(reader->pieces, AnyOf(ElementsAre("a", "b"), ElementsAre("ab")));
        at_once += reader->pieces.size() == 1 ? 1 : 0;
    }
    EXPECT_GT(at_once, 0u);
}

TEST(FanOutRest, IsAsLongAsTheRoundWithinBounds) {
    struct Row {
        Duration round, cooldown;
    };
    const Row kRows[] = {{0us, 0us}, {999us, 0us},  {1000us, 1000us}, {2500us, 2500us},
                         {4ms, 4ms}, {4001us, 4ms}, {3s, 4ms}};
    for (const Row& row : kRows)
        EXPECT_EQ(cooldown_after(row.round), row.cooldown) << row.round.count();
}

TEST_F(FanOutTest, AfterARoundNobodyIsToldAnythingForAsLong) {
    time_of_a_write = 20us;
    for (std::size_t i = 0; i < kReaders; ++i) tasks.spawn("reader", read(open(), 2));
    settle();
    await(create("a"));
    settle();
    EXPECT_EQ(told, kReaders);
    await(create("b"));
    await(create("c"));
    advance(time_of_a_write * kReaders - 1ns);
    EXPECT_EQ(told, kReaders);
    advance(1ns);
    for (const auto& reader : readers) EXPECT_THAT(reader->pieces, ElementsAre("a", "bc"));
}

TEST_F(FanOutTest, EverybodyIsToldAfterAFault) {
    for (std::size_t i = 0; i < kAtOnce + 1; ++i) tasks.spawn("reader", read(open(), 2));
    settle();
    {
        const TaskFault fault("fan-out of changes");
        await(create("a"));
        settle();
        EXPECT_EQ(fault.hits(), 1u);
        EXPECT_EQ(told, kAtOnce);
    }
    advance(1s);
    for (const auto& reader : readers) EXPECT_THAT(reader->pieces, ElementsAre("a"));
    await(create("b"));
    settle();
    for (const auto& reader : readers) EXPECT_THAT(reader->pieces, ElementsAre("a", "b"));
}

TEST_F(FanOutTest, WhoIsInTheProcessDoesNotWaitForTheRest) {
    for (std::size_t i = 0; i < kReaders; ++i) tasks.spawn("reader", read(open(), 1));
    const std::unique_ptr<kube::WatchStream> own = open_watch(kMaps);
    tasks.spawn("in process", read_in_process(*own));
    settle();
    await(create("a"));
    settle();
    EXPECT_LT(told_meanwhile, kReaders);
    EXPECT_EQ(told, kReaders);
}

TEST_F(FanOutTest, AWatchMayEndBeforeItsTurn) {
    for (std::size_t i = 0; i < kReaders; ++i) tasks.spawn("reader", read(open(), 2));
    const std::size_t leaving = 50;
    for (std::size_t i = 0; i < leaving; ++i) tasks.spawn("reader", read(open(), 1));
    settle();
    await(create("a"));
    settle();
    ASSERT_EQ(told, kReaders + leaving);
    told = 0;
    await(create_and_end_watches("b", kReaders));
    settle();
    for (const auto& reader : readers) EXPECT_THAT(reader->pieces, ElementsAre("a", "b"));
}

}  // namespace
}  // namespace muster::apiserver::fan_out_test
