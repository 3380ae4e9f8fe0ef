#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/test_growth.h"
#include "tcp_store/commands.h"
#include "tcp_store/session.h"

// What clients of the store send is work in proportion to its size.

namespace muster::tcp_store::store_growth_test {
namespace {

using Kind = StoreCommandKind;

std::vector<std::string> names(std::size_t count) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(fmt::format("key{}", i));
    return all;
}

std::string hello() { return encode({.kind = Kind::kValidate, .number = kStoreMagic}); }

std::string many_keys(std::size_t size) {
    return hello() + encode({.kind = Kind::kCheck, .keys = names(size)});
}
std::string many_values(std::size_t size) {
    return hello() + encode({.kind = Kind::kMultiSet, .keys = names(size), .values = names(size)});
}
std::string many_commands(std::size_t size) {
    return hello() + repeated(size, [](std::size_t i) {
               return encode({.kind = Kind::kAdd, .keys = {fmt::format("n{}", i)}, .number = 1});
           });
}
/// An old client, whose command can only be told from another when all of it is there.
std::string keys_again(std::size_t size) {
    StoreCommand command{.kind = Kind::kWait, .keys = names(size)};
    std::string wait = encode(command);
    wait[0] = 5;
    std::string get = encode(command);
    get[0] = 9;
    return wait + get;
}
std::string waits_for_many(std::size_t size) {
    return hello() + encode({.kind = Kind::kWait, .keys = names(size)}) +
           repeated(size, [](std::size_t i) {
               return encode(
                   {.kind = Kind::kSet, .keys = {fmt::format("key{}", i)}, .values = {"1"}});
           });
}

/// As they come from a client that sends a few bytes at a time.
void serve(std::string_view bytes) {
    constexpr std::size_t kPiece = 16;
    StoreReader reader;
    StoreKeys keys;
    std::string answers;
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
        reader.put(bytes.substr(at, kPiece), true);
        for (;;) {
            Result<std::optional<StoreCommand>> command = reader.next();
            ASSERT_TRUE(command) << command.error().message();
            if (!*command) break;
            ASSERT_TRUE(answer(keys, 1, **std::move(command), answers));
        }
    }
    ASSERT_EQ(reader.buffered(), 0u);
}

class StoreGrowth : public ::testing::TestWithParam<GrowthCase> {};

TEST_P(StoreGrowth, IsLinear) { EXPECT_LE(growth_of(GetParam()), kLinearGrowth); }

INSTANTIATE_TEST_SUITE_P(Commands, StoreGrowth,
                         ::testing::Values(GrowthCase{"many_keys", many_keys, serve, 2'000},
                                           GrowthCase{"many_values", many_values, serve, 2'000},
                                           GrowthCase{"many_commands", many_commands, serve, 2'000},
                                           GrowthCase{"keys_again", keys_again, serve, 2'000},
                                           GrowthCase{"waits_for_many", waits_for_many, serve,
                                                      2'000}),
                         ::testing::PrintToStringParamName());

TEST(StoreWaiters, OfManyWhoWaitForOneKey) {
    EXPECT_LE(growth_by_ten(3'000,
                            [](std::size_t size) {
                                StoreKeys keys;
                                for (StoreKeys::Waiter i = 0; i < size; ++i)
                                    keys.wait(i, {"one", "another"});
                                keys.set("one", "1");
                                keys.set("another", "1");
                                ASSERT_EQ(keys.take_released().size(), size);
                            }),
              kLinearGrowth);
}

TEST(StoreWaiters, OfManyWhoLeaveABarrier) {
    EXPECT_LE(growth_by_ten(3'000,
                            [](std::size_t size) {
                                StoreKeys keys;
                                for (StoreKeys::Waiter i = 0; i < size; ++i)
                                    keys.arrive(i, "all", 1'000'000);
                                for (StoreKeys::Waiter i = size; i > 0; --i)
                                    ASSERT_TRUE(keys.cancel(i - 1));
                            }),
              kLinearGrowth);
}

}  // namespace
}  // namespace muster::tcp_store::store_growth_test
