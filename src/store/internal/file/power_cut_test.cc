#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <map>

#include "base/async/task_group.h"
#include "base/log.h"
#include "base/rng.h"
#include "store/power_cut_fixture.h"
#include "store/store_folder_fixture.h"

namespace muster::store::power_cut_test {
namespace {

using ::testing::HasSubstr;

class BreakingDiskTest : public StoreFileTest {
  protected:
    BreakingDiskTest() {
        log::set_sink([this](log::Level, std::string_view line) { lines_ += line; });
    }
    ~BreakingDiskTest() override { log::set_sink({}); }

    /// What a client was told: for each of its keys the newest text, "" if it is gone.
    struct Told {
        std::map<std::string, std::string> objects;
        Revision revision = 0;
    };

    /// Creates, changes and removes keys of its own until it is refused. `next` is what the write
    /// under way would make of its key.
    struct Client {
        Told told;
        std::pair<std::string, std::string> next;
        bool ended = false;
    };
    static Task<void> write_until_refused(Store& store, Client& client, std::string own,
                                          std::uint64_t seed) {
        Rng rng(seed);
        std::map<std::string, Revision> there;
        for (int i = 0; !client.ended; ++i) {
            const std::string name = fmt::format("{}-{}", own, rng.below(4));
            const std::string text = fmt::format("{} {}", i, std::string(rng.below(3000), 'x'));
            auto known = there.find(name);
            const bool deletes = known != there.end() && rng.chance(0.3);
            client.next = {name, deletes ? "" : text};
            Result<StoredObject> done = Error(Code::kInternal, "not written");
            if (known == there.end())
                done = co_await store.create(key(name), value(text));
            else if (deletes)
                done = co_await store.remove(key(name), known->second, value(text));
            else
                done = co_await store.update(key(name), known->second, value(text));
            if (!done) {
                EXPECT_EQ(done.error().code(), Code::kUnavailable) << done.error().message();
                client.ended = true;
                co_return;
            }
            if (deletes)
                there.erase(name);
            else
                there[name] = done->revision;
            client.told.objects[name] = client.next.second;
            client.told.revision = done->revision;
        }
    }

    std::string text_of(const std::string& name) {
        const auto found = await(store_->get(key(name)));
        return found ? std::string(found->object->tree()->at("text").as_string()) : "";
    }

    std::string lines_;
};

TEST_F(BreakingDiskTest, WhatWasConfirmedOutlivesALossOfPower) {
    constexpr int kClients = 4;
    std::uint64_t confirmed = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        Rng rng(seed);
        const StoreFolder survivors;
        const StoreFolder lost;
        std::vector<Client> clients(kClients);
        {
            BreakingDisk disk(seed);
            options_ = {};
            options_.history.changes = 20;
            // Carried over often, so that the power goes in the middle of that too.
            options_.checkpoint_bytes = 16u << 10;
            options_.log_limit_bytes = 64u << 10;
            options_.vfs = disk.name();
            const Result<void> opened = try_open(lost.path());
            ASSERT_TRUE(opened) << opened.error().message();
            disk.cut_power_after(1 + rng.below(400), survivors.folder());
            TaskGroup tasks(context.get_executor());
            for (int i = 0; i < kClients; ++i)
                tasks.spawn("client",
                            write_until_refused(*store_, clients[std::size_t(i)], std::to_string(i),
                                                seed * 100 + std::uint64_t(i)));
            await(tasks.join());
            ASSERT_TRUE(disk.is_out());
            ASSERT_TRUE(store_->failure());
            close();
        }
        options_.vfs.clear();
        const Result<void> opened = try_open(survivors.path());
        ASSERT_TRUE(opened) << opened.error().message();
        for (const Client& client : clients) {
            EXPECT_GE(store_->revision(), client.told.revision);
            confirmed += client.told.objects.size();
            for (const auto& [name, text] : client.told.objects) {
                const std::string found = text_of(name);
                // The write that was not confirmed may have been made.
                if (name != client.next.first || found != client.next.second)
                    EXPECT_EQ(found, text) << name;
            }
        }
        EXPECT_TRUE(create("after", "1")) << "and it goes on";
        close();
    }
    EXPECT_GT(confirmed, 60u) << "the power went too early to show anything";
}

struct Failure {
    const char* name;
    BreakingDisk::Fault fault;
    const char* why;
    const char* remedy;
};

class DiskFailureTest : public BreakingDiskTest, public ::testing::WithParamInterface<Failure> {};

TEST_P(DiskFailureTest, EndsWritingAndReadsGoOn) {
    BreakingDisk disk(1);
    options_.vfs = disk.name();
    open();
    ASSERT_TRUE(create("a", "1"));
    EXPECT_FALSE(store_->failure());
    disk.fail_after(1, GetParam().fault);
    std::size_t observed = 0;
    store_->observe([&](const StoreChange&) { ++observed; });

    const auto refused = create("b", "1");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kUnavailable);
    EXPECT_THAT(refused.error().message(), HasSubstr(folder_.path() + ": writing changes: "));
    EXPECT_THAT(refused.error().message(), HasSubstr(GetParam().why));
    EXPECT_THAT(refused.error().message(), HasSubstr(GetParam().remedy));
    ASSERT_TRUE(store_->failure());
    EXPECT_EQ(store_->failure()->message(), refused.error().message());
    EXPECT_THAT(lines_, HasSubstr("the store takes no more writes"));

    EXPECT_EQ(objects(), "a=1@1");
    EXPECT_EQ(observed, 0u);
    EXPECT_EQ(store_->revision(), 1u);
    const auto later = update("a", "2");
    ASSERT_FALSE(later) << "not even when the disk would";
    EXPECT_EQ(later.error().message(), refused.error().message());
    close();
}

TEST_P(DiskFailureTest, RefusesAllThatWasQueued) {
    BreakingDisk disk(1);
    options_.vfs = disk.name();
    open();
    ASSERT_TRUE(create("a", "1"));
    disk.fail_after(1, GetParam().fault);
    int refused = 0;
    const auto count = [&](std::exception_ptr, const Result<StoredObject>& made) {
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().code(), Code::kUnavailable);
        ++refused;
    };
    for (int i = 0; i < 50; ++i)
        asio::co_spawn(context, store_->create(key(fmt::format("b{}", i % 25)), value("1")), count);
    run_until([&] { return refused == 50; });
    EXPECT_EQ(objects(), "a=1@1");
    await(store_->settled());
    close();
}

INSTANTIATE_TEST_SUITE_P(All, DiskFailureTest,
                         ::testing::Values(Failure{"Full", BreakingDisk::Fault::kFull,
                                                   "database or disk is full",
                                                   "free some space there"},
                                           Failure{"Sync", BreakingDisk::Fault::kFailedSync,
                                                   "disk I/O error", "check the disk"},
                                           Failure{"Write", BreakingDisk::Fault::kFailedWrite,
                                                   "disk I/O error", "check the disk"}),
                         [](const auto& info) { return info.param.name; });

TEST_F(BreakingDiskTest, WritesThatAreReadyAtOnceShareASync) {
    BreakingDisk disk(1);
    options_.vfs = disk.name();
    open();
    // The first one syncs the log's head as well.
    ASSERT_TRUE(create("a", "1"));
    const std::uint64_t before = disk.syncs();
    ASSERT_TRUE(create("b", "1"));
    EXPECT_EQ(disk.syncs() - before, 1u);

    create_at_once(200, "1");
    EXPECT_LE(disk.syncs() - before, 3u) << "the first at once, then all others";
    close();
}

TEST_F(BreakingDiskTest, AFailedCheckpointEndsWritingToo) {
    BreakingDisk disk(1);
    options_.vfs = disk.name();
    options_.checkpoint_bytes = 1;
    open();
    // The write's own sync comes first, then the checkpoint's.
    disk.fail_after(1, BreakingDisk::Fault::kFailedSync);
    (void)create("a", "1");
    run_until([&] { return store_->failure().has_value(); });
    EXPECT_FALSE(create("b", "1"));
    close();
}

}  // namespace
}  // namespace muster::store::power_cut_test
