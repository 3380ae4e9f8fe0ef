#include "store/store_contract_test.h"

namespace muster::store::memory_store_test {
namespace {

class MemoryWorld {
  public:
    TestLoop& loop() { return loop_; }
    Store& store() { return *store_; }

  private:
    SimulatedLoop loop_;
    std::unique_ptr<Store> store_ = make_memory_store({.changes = 5});
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, StoreContract, MemoryWorld);

TEST(MemoryStore, ItsHistoryHasALimitOfBytes) {
    SimulatedLoop loop;
    const auto store = make_memory_store({.bytes = 100});
    const StoreKey key{"pods", "", "a"};
    const auto made = [](Revision revision) {
        return std::make_shared<const json::value>(
            json::object{{"text", std::string(40, 'x')}, {"at", revision}});
    };
    ASSERT_TRUE(loop.await(store->create(key, made)));
    for (Revision revision = 1; revision < 4; ++revision)
        ASSERT_TRUE(loop.await(store->update(key, revision, made)));
    EXPECT_EQ(store->history().floor, 3u) << "one state of 60 bytes is past";
}

}  // namespace
}  // namespace muster::store::memory_store_test
