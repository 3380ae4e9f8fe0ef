#include "apiserver/store_contract_test.h"

namespace muster::apiserver {
namespace {

class MemoryWorld {
  public:
    asio::io_context& context() { return context_; }
    Store& store() { return *store_; }

  private:
    asio::io_context context_;
    std::unique_ptr<Store> store_ = make_memory_store();
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, StoreContract, MemoryWorld);

}  // namespace
}  // namespace muster::apiserver
