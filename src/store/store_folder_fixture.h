#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/json.hpp>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "base/test_loop.h"
#include "store/sqlite_store.h"

namespace muster::store {

/// A folder for a store's file, removed with its owner.
class StoreFolder {
  public:
    StoreFolder() {
        std::string pattern = ::testing::TempDir() + "muster-store-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder " + pattern);
        folder_ = pattern;
    }
    ~StoreFolder() { std::filesystem::remove_all(folder_); }
    StoreFolder(const StoreFolder&) = delete;
    StoreFolder& operator=(const StoreFolder&) = delete;

    const std::string& folder() const { return folder_; }
    std::string path() const { return folder_ + "/store.db"; }

  private:
    std::string folder_;
};

/// A store in a folder of its own, on a loop with real time, and writes that wait for their result.
class StoreFileTest : public ::testing::Test, protected RealLoop {
  protected:
    ~StoreFileTest() override { close(); }

    Result<void> try_open(std::string path) {
        Result<std::unique_ptr<Store>> opened =
            open_sqlite_store(std::move(path), options_, context.get_executor());
        if (!opened) return std::move(opened.error());
        store_ = *std::move(opened);
        return {};
    }
    void open() {
        const Result<void> opened = try_open(folder_.path());
        ASSERT_TRUE(opened) << opened.error().message();
    }
    void close() {
        if (store_ == nullptr) return;
        await(store_->stop());
        store_.reset();
    }
    void open_again() {
        close();
        open();
    }
    /// "" if it opens, otherwise the error.
    std::string status_error() {
        const Result<void> opened = try_open(folder_.path());
        if (!opened) return opened.error().message();
        close();
        return "";
    }

    static StoreKey key(std::string name) { return {"pods", "default", std::move(name)}; }
    static Store::Make value(std::string text) {
        return [text = std::move(text)](Revision) {
            return std::make_shared<const json::value>(json::object{{"text", text}});
        };
    }
    Result<StoredObject> create(std::string name, std::string text) {
        return await(store_->create(key(std::move(name)), value(std::move(text))));
    }
    /// Begins all of "0", "1", ... before any of them is answered; all must succeed.
    void create_at_once(int count, const std::string& text) {
        int answered = 0;
        for (int i = 0; i < count; ++i)
            asio::co_spawn(context, store_->create(key(std::to_string(i)), value(text)),
                           [&](std::exception_ptr, const Result<StoredObject>& made) {
                               EXPECT_TRUE(made);
                               ++answered;
                           });
        run_until([&] { return answered == count; });
    }
    Result<StoredObject> update(std::string name, std::string text) {
        auto now = await(store_->get(key(name)));
        if (!now) return now;
        return await(store_->update(key(std::move(name)), now->revision, value(std::move(text))));
    }
    Result<StoredObject> remove(std::string name) {
        auto now = await(store_->get(key(name)));
        if (!now) return now;
        return await(store_->remove(key(std::move(name)), now->revision, value("gone")));
    }
    /// "a=1@3 b=2@4": every object with its revision.
    std::string objects() {
        std::string all;
        for (const StoredObject& found : *await(store_->list("pods", "", std::nullopt, 0)))
            all += fmt::format("{}{}={}@{}", all.empty() ? "" : " ", found.key.name,
                               std::string_view(found.object->tree()->at("text").as_string()),
                               found.revision);
        return all;
    }

    StoreFolder folder_;
    SqliteStoreOptions options_;
    std::unique_ptr<Store> store_;
};

}  // namespace muster::store
