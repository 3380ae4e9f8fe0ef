#include "store/store_contract_test.h"

namespace muster::store {
namespace {

class MemoryWorld {
  public:
    TestLoop& loop() { return loop_; }
    Store& store() { return *store_; }

  private:
    SimulatedLoop loop_;
    std::unique_ptr<Store> store_ = make_memory_store(5);
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, StoreContract, MemoryWorld);

}  // namespace
}  // namespace muster::store
