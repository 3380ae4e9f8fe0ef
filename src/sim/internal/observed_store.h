#pragma once

#include <memory>
#include <utility>

#include "store/store.h"

namespace muster::sim {

/// A store whose committed changes are seen by one more, after the server.
class ObservedStore final : public apiserver::Store {
  public:
    ObservedStore(std::unique_ptr<Store> store, Observer watcher)
        : store_(std::move(store)), watcher_(std::move(watcher)) {}

    apiserver::Revision revision() const override { return store_->revision(); }
    Task<Result<apiserver::StoredObject>> create(apiserver::StoreKey key, Make make) override {
        return store_->create(std::move(key), std::move(make));
    }
    Task<Result<apiserver::StoredObject>> update(apiserver::StoreKey key,
                                                 apiserver::Revision expected, Make make) override {
        return store_->update(std::move(key), expected, std::move(make));
    }
    Task<Result<apiserver::StoredObject>> remove(apiserver::StoreKey key,
                                                 apiserver::Revision expected, Make make) override {
        return store_->remove(std::move(key), expected, std::move(make));
    }
    Task<Result<apiserver::StoredObject>> get(apiserver::StoreKey key) override {
        return store_->get(std::move(key));
    }
    Task<Result<std::vector<apiserver::StoredObject>>> list(
        std::string resource, std::string namespace_, std::optional<apiserver::StoreKey> after,
        std::size_t limit) override {
        return store_->list(std::move(resource), std::move(namespace_), std::move(after), limit);
    }
    void observe(Observer observer) override {
        store_->observe([this, server = std::move(observer)](const apiserver::StoreChange& change) {
            server(change);
            watcher_(change);
        });
    }

    apiserver::StoreHistory history() const override { return store_->history(); }
    Task<void> settled() override { return store_->settled(); }
    std::optional<Error> failure() const override { return store_->failure(); }
    Task<void> stop() override { return store_->stop(); }

  private:
    std::unique_ptr<Store> store_;
    Observer watcher_;
};

}  // namespace muster::sim
