#pragma once

#include <memory>
#include <utility>

#include "store/store.h"

namespace muster::sim {

/// A store whose committed changes are seen by one more, after the server.
class ObservedStore final : public store::Store {
  public:
    ObservedStore(std::unique_ptr<Store> store, Observer watcher)
        : store_(std::move(store)), watcher_(std::move(watcher)) {}

    store::Revision revision() const override { return store_->revision(); }
    Task<Result<store::StoredObject>> create(store::StoreKey key, Make make) override {
        return store_->create(std::move(key), std::move(make));
    }
    Task<Result<store::StoredObject>> update(store::StoreKey key, store::Revision expected,
                                             Make make) override {
        return store_->update(std::move(key), expected, std::move(make));
    }
    Task<Result<store::StoredObject>> remove(store::StoreKey key, store::Revision expected,
                                             Make make) override {
        return store_->remove(std::move(key), expected, std::move(make));
    }
    Task<Result<store::StoredObject>> get(store::StoreKey key) override {
        return store_->get(std::move(key));
    }
    Task<Result<std::vector<store::StoredObject>>> list(std::string resource,
                                                        std::string namespace_,
                                                        std::optional<store::StoreKey> after,
                                                        std::size_t limit) override {
        return store_->list(std::move(resource), std::move(namespace_), std::move(after), limit);
    }
    void observe(Observer observer) override {
        store_->observe([this, server = std::move(observer)](const store::StoreChange& change) {
            server(change);
            watcher_(change);
        });
    }

    store::StoreHistory history() const override { return store_->history(); }
    Task<void> settled() override { return store_->settled(); }
    std::optional<Error> failure() const override { return store_->failure(); }
    Task<void> stop() override { return store_->stop(); }

  private:
    std::unique_ptr<Store> store_;
    Observer watcher_;
};

}  // namespace muster::sim
