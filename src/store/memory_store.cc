#include "store/internal/change_window.h"
#include "store/internal/object_tables.h"
#include "store/store.h"

namespace muster::store {

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
        ObjectTextPtr text = ObjectText::of(last);
        objects_.erase(key);
        committed({key, revision_, nullptr, std::move(last), text}, before.object);
        co_return StoredObject{std::move(key), revision_, std::move(text)};
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
        ObjectTextPtr text = ObjectText::of(object);
        objects_.put(key, revision_, text);
        kube::ObjectPtr previous = before.object == nullptr ? nullptr : before.object->tree();
        committed({key, revision_, std::move(object), std::move(previous), text}, before.object);
        return {std::move(key), revision_, std::move(text)};
    }

    void committed(StoreChange change, ObjectTextPtr before) {
        if (observer_) observer_(change);
        window_.add({std::move(change.key.resource), change.revision, change.object == nullptr,
                     std::move(change.text), std::move(before)});
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

}  // namespace muster::store
