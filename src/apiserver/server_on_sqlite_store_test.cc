#include <gmock/gmock.h>

#include "apiserver/api_server.h"
#include "apiserver/request_handler.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/client/client.h"
#include "store/power_cut_fixture.h"
#include "store/store_folder_fixture.h"

namespace muster::apiserver {
namespace {

using ::testing::HasSubstr;

const kube::ResourceType& kMaps = kube::types::kConfigMaps;

class ServerOnSqliteStoreTest : public store::StoreFileTest {
  protected:
    ~ServerOnSqliteStoreTest() override { stop(); }

    void start() {
        auto opened = store::open_sqlite_store(folder_.path(), options_, context.get_executor());
        ASSERT_TRUE(opened) << opened.error().message();
        server_ =
            std::make_unique<ApiServer>(context.get_executor(), clock, rng_, *std::move(opened));
        const Result<void> started = await(server_->start());
        ASSERT_TRUE(started) << started.error().message();
    }
    void stop() {
        if (server_ == nullptr) return;
        await(server_->stop());
        server_.reset();
    }
    void start_again() {
        stop();
        start();
    }

    auto create(std::string name) {
        kube::Client client(*server_);
        return await(client.create(kMaps, "default",
                                   json::object{{"apiVersion", "v1"},
                                                {"kind", "ConfigMap"},
                                                {"metadata", {{"name", std::move(name)}}}}));
    }
    std::string revision() {
        kube::Client client(*server_);
        return await(client.list(kMaps, {}))->resource_version;
    }
    /// "ADDED a, DELETED b": so many events from the revision on.
    std::string watched(std::string from, int count) {
        kube::Client client(*server_);
        kube::WatchOptions options;
        options.resource_version = std::move(from);
        auto stream = await(client.watch(kMaps, options));
        std::string all;
        for (int i = 0; i < count; ++i) {
            auto event = await((*stream)->next());
            if (!event || !*event) return all + ", the end";
            all += fmt::format(
                "{}{}", all.empty() ? "" : ", ",
                std::string_view((*event)->object->at("metadata").at("name").as_string()));
        }
        return all;
    }

    Rng rng_{1};
    std::unique_ptr<ApiServer> server_;
};

TEST_F(ServerOnSqliteStoreTest, GoesOnWhereItStopped) {
    start();
    ASSERT_TRUE(create("a"));
    const std::string seen = revision();
    ASSERT_TRUE(create("b"));
    const std::string last = revision();
    start_again();
    EXPECT_EQ(revision(), last) << "nothing is written by starting again";
    ASSERT_TRUE(create("c"));
    EXPECT_EQ(watched(seen, 2), "b, c");
    EXPECT_EQ(create("a").error().code(), Code::kAlreadyExists);
}

TEST_F(ServerOnSqliteStoreTest, WhatItCantKeepIsRefusedAndReadsGoOn) {
    log::set_sink([](log::Level, std::string_view) {});
    store::BreakingDisk disk(1);
    options_.vfs = disk.name();
    start();
    ASSERT_TRUE(create("a"));
    EXPECT_FALSE(server_->handler().write_failure());
    disk.fail_after(1, store::BreakingDisk::Fault::kFull);
    const auto refused = create("b");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kUnavailable);
    EXPECT_THAT(refused.error().message(), HasSubstr("free some space there"));
    ASSERT_TRUE(server_->handler().write_failure());
    kube::Client client(*server_);
    EXPECT_EQ(await(client.list(kMaps, {}))->items.size(), 1u);
    stop();
    log::set_sink({});
}

}  // namespace
}  // namespace muster::apiserver
