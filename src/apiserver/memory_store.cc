#include "apiserver/internal/change_window.h"
#include "apiserver/internal/object_tables.h"
#include "apiserver/store.h"

namespace muster::apiserver {

namespace {

class MemoryStore final : public Store {
  public:
    explicit MemoryStore(std::size_t history) : window_(history) {}

    Revision revision() const override { return revision_; }

    Task<Result<StoredObject>> create(StoreKey key, Make make) override {
        CO_TRY_VOID(check_running());
        const ObjectState before = objects_.find(key);
        CO_TRY_VOID(check_create(key, before));
        co_return put(std::move(key), before, std::move(make));
    }

    Task<Result<StoredObject>> update(StoreKey key, Revision expected, Make make) override {
        CO_TRY_VOID(check_running());
        const ObjectState before = objects_.find(key);
        CO_TRY_VOID(check_expected(key, before, expected));
        co_return put(std::move(key), before, std::move(make));
    }

    Task<Result<StoredObject>> remove(StoreKey key, Revision expected, Make make) override {
        CO_TRY_VOID(check_running());
        const ObjectState before = objects_.find(key);
        CO_TRY_VOID(check_expected(key, before, expected));
        kube::ObjectPtr last = make(++revision_);
        objects_.erase(key);
        committed({{key, revision_, nullptr, last}, before.object});
        co_return StoredObject{std::move(key), revision_, std::move(last)};
    }

    Task<Result<StoredObject>> get(StoreKey key) override {
        co_return objects_.get(std::move(key));
    }

    Task<Result<std::vector<StoredObject>>> list(std::string resource, std::string namespace_,
                                                 std::optional<StoreKey> after,
                                                 std::size_t limit) override {
        co_return objects_.list(resource, namespace_, after, limit);
    }

    void observe(Observer observer) override { observer_ = std::move(observer); }
    StoreHistory history() const override { return window_.history(); }
    Task<void> settled() override { co_return; }
    std::optional<Error> failure() const override { return std::nullopt; }
    Task<void> stop() override {
        stopped_ = true;
        co_return;
    }

  private:
    Result<void> check_running() const {
        if (stopped_) return Error(Code::kUnavailable, "the store is stopped");
        return {};
    }

    StoredObject put(StoreKey key, const ObjectState& before, Make make) {
        kube::ObjectPtr object = make(++revision_);
        objects_.put(key, revision_, object);
        committed({{key, revision_, object, before.object}, before.object});
        return {std::move(key), revision_, std::move(object)};
    }

    void committed(StoreHistory::Entry entry) {
        if (observer_) observer_(entry.change);
        window_.add(std::move(entry));
    }

    ObjectTables objects_;
    ChangeWindow window_;
    Revision revision_ = 0;
    bool stopped_ = false;
    Observer observer_;
};

}  // namespace

std::unique_ptr<Store> make_memory_store(std::size_t history) {
    return std::make_unique<MemoryStore>(history);
}

}  // namespace muster::apiserver
