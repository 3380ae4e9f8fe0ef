#include "store/internal/table_store.h"
#include "store/store.h"

namespace muster::store {

namespace {

class MemoryStore final : public TableStore {
  public:
    explicit MemoryStore(HistoryLimit history) : TableStore({}, ChangeWindow(history)) {}

    Revision revision() const override { return revision_; }
    Task<void> settled() override { co_return; }
    std::optional<Error> failure() const override { return std::nullopt; }
    Task<void> stop() override {
        stopped_ = true;
        co_return;
    }

  private:
    Task<Result<StoredObject>> commit(Write write) override {
        if (stopped_) co_return Error(Code::kUnavailable, "the store is stopped");
        const ObjectState before = objects().find(write.key);
        CO_TRY_VOID(check(write, before));
        const StoreChange change = change_of(std::move(write), before, revision_ + 1);
        revision_ = change.revision;
        apply(change, before.object);
        co_return StoredObject{change.key, change.revision, change.text};
    }

    Revision revision_ = 0;
    bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Store> make_memory_store(HistoryLimit history) {
    return std::make_unique<MemoryStore>(history);
}

}  // namespace muster::store
