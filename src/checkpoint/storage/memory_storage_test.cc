#include "checkpoint/storage/memory_storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "checkpoint/storage/durable_text.h"

// What a power loss leaves, and the faults.

namespace muster::checkpoint::memory_storage_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t kSeeds = 300;

void put(Storage& storage, std::string_view path, std::string_view text, bool sync = true) {
    const auto file = storage.create(path, text.size());
    ASSERT_TRUE(file) << file.error().message();
    ASSERT_TRUE((*file)->write(0, std::as_bytes(std::span(text))));
    if (sync) {
        ASSERT_TRUE((*file)->sync());
    }
}

/// All files with their content, by their paths: "1000/a=text".
void add_files(const Storage& storage, const std::string& path, std::string& all) {
    for (const auto& entry : storage.list(path).value()) {
        const std::string inner = path.empty() ? entry.name : path + "/" + entry.name;
        if (!entry.directory)
            all += inner + "=" + read_text(storage, inner, 1 << 20).value() + " ";
        else if (storage.list(inner).value().empty())
            all += inner + "/ ";
        else
            add_files(storage, inner, all);
    }
}

std::string files_of(const Storage& storage) {
    std::string all;
    add_files(storage, "", all);
    return all;
}

/// What may be found, with any seed.
std::set<std::string> outcomes(const MemoryStorage& storage) {
    std::set<std::string> all;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed)
        all.insert(files_of(*storage.after_power_loss(seed)));
    return all;
}

TEST(MemoryStorage, WhatIsSyncedIsThereAfterAPowerLoss) {
    MemoryStorage storage;
    ASSERT_TRUE(storage.make_directory("1000"));
    put(storage, "1000/a", "x");
    ASSERT_TRUE(storage.sync_directory("1000"));
    ASSERT_TRUE(storage.sync_directory(""));
    EXPECT_THAT(outcomes(storage), ElementsAre("1000/a=x "));
}

TEST(MemoryStorage, ANameThatIsNotSyncedIsThereOrNot) {
    MemoryStorage storage;
    put(storage, "a", "x");
    EXPECT_THAT(outcomes(storage), ElementsAre("", "a=x "));
    EXPECT_EQ(files_of(*storage.after_power_loss(0)), "");
    EXPECT_EQ(files_of(*storage.after_power_loss(1)), "a=x ");
    ASSERT_TRUE(storage.sync_directory(""));
    EXPECT_THAT(outcomes(storage), ElementsAre("a=x "));
    ASSERT_TRUE(storage.remove("a"));
    EXPECT_THAT(outcomes(storage), ElementsAre("", "a=x "));
}

TEST(MemoryStorage, ADirectoryIsLostWithWhatIsInIt) {
    MemoryStorage storage;
    ASSERT_TRUE(storage.make_directory("1000"));
    put(storage, "1000/a", "x");
    ASSERT_TRUE(storage.sync_directory("1000")) << "but not the root";
    EXPECT_THAT(outcomes(storage), ElementsAre("", "1000/a=x "));
}

TEST(MemoryStorage, ContentThatIsNotSyncedMayBeAnything) {
    MemoryStorage storage;
    const std::string text(2000, 'x');
    put(storage, "a", text, false);
    ASSERT_TRUE(storage.sync_directory(""));
    bool torn = false;
    for (const std::string& outcome : outcomes(storage)) {
        const std::string content = outcome.substr(2, outcome.size() - 3);
        EXPECT_LE(content.size(), text.size());
        EXPECT_EQ(content.find_first_not_of(std::string_view("x\0", 2)), std::string::npos);
        const std::size_t zero = content.find('\0');
        torn |= zero != std::string::npos && content.find('x', zero) != std::string::npos;
    }
    EXPECT_TRUE(torn) << "a later part is there without an earlier one";
    EXPECT_THAT(outcomes(storage), AllOf(Contains("a= "), Contains("a=" + text + " "),
                                         Contains("a=" + std::string(text.size(), '\0') + " ")));
}

TEST(MemoryStorage, ARenameIsWholeAndLeavesTheOldOrTheNew) {
    MemoryStorage storage;
    put(storage, "a", "old");
    put(storage, "b", "new");
    ASSERT_TRUE(storage.sync_directory(""));
    ASSERT_TRUE(storage.rename("b", "a"));
    EXPECT_THAT(outcomes(storage), ElementsAre("a=new ", "a=old b=new "));
    ASSERT_TRUE(storage.sync_directory(""));
    EXPECT_THAT(outcomes(storage), ElementsAre("a=new "));
}

TEST(MemoryStorage, ARenameBetweenDirectoriesNeedsBothSynced) {
    MemoryStorage storage;
    ASSERT_TRUE(storage.make_directory(".muster/x"));
    put(storage, ".muster/x/a", "1");
    for (const char* const path : {".muster/x", ".muster", ""})
        ASSERT_TRUE(storage.sync_directory(path));
    ASSERT_TRUE(storage.rename(".muster/x", "1000"));
    const auto either = ElementsAre(".muster/ 1000/a=1 ", ".muster/x/a=1 ");
    EXPECT_THAT(outcomes(storage), either);
    ASSERT_TRUE(storage.sync_directory(""));
    EXPECT_THAT(outcomes(storage), either);
    ASSERT_TRUE(storage.sync_directory(".muster"));
    EXPECT_THAT(outcomes(storage), ElementsAre(".muster/ 1000/a=1 "));
}

TEST(MemoryStorage, AnExchangeIsWhole) {
    MemoryStorage storage;
    put(storage, "a", "1");
    put(storage, "b", "2");
    ASSERT_TRUE(storage.sync_directory(""));
    ASSERT_TRUE(storage.exchange("a", "b"));
    EXPECT_THAT(outcomes(storage), ElementsAre("a=1 b=2 ", "a=2 b=1 "));
    MemoryStorage other({.can_exchange = false});
    put(other, "a", "1");
    put(other, "b", "2");
    EXPECT_EQ(other.exchange("a", "b").error().code(), Code::kUnsupported);
}

TEST(MemoryStorage, ChangesThatDontNeedEachOtherAreLostByThemselves) {
    MemoryStorage storage;
    put(storage, "a", "1");
    put(storage, "b", "2");
    EXPECT_THAT(outcomes(storage), ElementsAre("", "a=1 ", "a=1 b=2 ", "b=2 "));
}

TEST(MemoryStorage, AChangeIsNotThereWithoutWhatItNeeds) {
    MemoryStorage storage;
    put(storage, "a", "1");
    ASSERT_TRUE(storage.rename("a", "b"));
    ASSERT_TRUE(storage.rename("b", "c"));
    EXPECT_THAT(outcomes(storage), ElementsAre("", "a=1 ", "b=1 ", "c=1 "));
}

TEST(MemoryStorage, ADirectoryThatIsHalfRemovedIsFound) {
    MemoryStorage storage;
    ASSERT_TRUE(storage.make_directory("1000"));
    put(storage, "1000/a", "1");
    put(storage, "1000/b", "2");
    ASSERT_TRUE(storage.sync_directory("1000"));
    ASSERT_TRUE(storage.sync_directory(""));
    ASSERT_TRUE(storage.remove("1000"));
    EXPECT_THAT(outcomes(storage),
                UnorderedElementsAre("", "1000/ ", "1000/a=1 ", "1000/b=2 ", "1000/a=1 1000/b=2 "));
}

TEST(MemoryStorage, NoDirectoryIsInItself) {
    MemoryStorage storage;
    ASSERT_TRUE(storage.make_directory("p/q"));
    put(storage, "p/q/a", "1");
    for (const char* const path : {"p/q", "p", ""}) ASSERT_TRUE(storage.sync_directory(path));
    ASSERT_TRUE(storage.rename("p/q", "q"));
    ASSERT_TRUE(storage.rename("p", "q/p"));
    for (const std::string& outcome : outcomes(storage))
        EXPECT_THAT(outcome, HasSubstr("a=1")) << "the file was durable, and is reached";
}

TEST(MemoryStorage, OneSeedIsOneOutcome) {
    MemoryStorage storage;
    for (int i = 0; i < 20; ++i) put(storage, std::to_string(i), std::string(3000, 'x'), false);
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        EXPECT_EQ(files_of(*storage.after_power_loss(seed)),
                  files_of(*storage.after_power_loss(seed)));
}

TEST(MemoryStorage, PowerIsLostAtEachOperation) {
    std::set<std::string> found;
    std::uint64_t all = 1;
    for (std::uint64_t at = 0; at < all; ++at) {
        MemoryStorage storage;
        ASSERT_TRUE(write_text_durably(storage, "", "LATEST", "old"));
        const std::uint64_t before = storage.operations();
        storage.lose_power_at(before + at);
        const auto written = write_text_durably(storage, "", "LATEST", "new");
        all = std::max(all, storage.operations() - before);
        if (!written) {
            EXPECT_EQ(written.error().code(), Code::kUnavailable);
        }
        for (std::uint64_t seed = 0; seed < kSeeds; ++seed)
            found.insert(read_text(*storage.after_power_loss(seed), "LATEST", 100).value());
    }
    EXPECT_THAT(found, ElementsAre("new", "old"));
    EXPECT_GE(all, 5u) << "create, write, sync, rename, sync of the directory";
}

TEST(MemoryStorage, AnOperationFailsAsItIsTold) {
    MemoryStorage storage;
    put(storage, "a", "x");
    EXPECT_THAT(storage.history(), ElementsAre("create a", "write a", "sync a"));
    storage.fail_at(3, Error(Code::kInternal, "once"));
    storage.fail_from(5, Error(Code::kInternal, "always"));
    EXPECT_EQ(storage.remove("a").error().message(), "once");
    EXPECT_TRUE(storage.open("a")) << "it has done nothing";
    EXPECT_EQ(storage.remove("a").error().message(), "always");
    EXPECT_EQ(storage.list("").error().message(), "always");
    EXPECT_EQ(storage.operations(), 7u);
}

TEST(MemoryStorage, IsFullAndHasRoomAgain) {
    MemoryStorage storage({.capacity = 10});
    put(storage, "a", "123456");
    const auto refused = storage.create("b", 5);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kUnavailable);
    EXPECT_THAT(refused.error().message(), HasSubstr("No space left on device"));
    EXPECT_TRUE(storage.create("b", 4));
    EXPECT_FALSE(storage.create("c", 1));
    EXPECT_TRUE(storage.create("a", 6)) << "in the place of the old one";
    ASSERT_TRUE(storage.remove("b"));
    EXPECT_TRUE(storage.create("c", 4));
}

TEST(MemoryStorage, ThatIsReadOnlyIsRead) {
    MemoryStorage storage;
    put(storage, "a", "x");
    const auto open = storage.create("b", 1).value();
    storage.set_read_only(true);
    EXPECT_EQ(read_text(storage, "a", 10).value(), "x");
    EXPECT_EQ(storage.create("c", 1).error().code(), Code::kForbidden);
    EXPECT_EQ(storage.rename("a", "c").error().code(), Code::kForbidden);
    EXPECT_EQ(open->sync().error().code(), Code::kForbidden);
    EXPECT_THAT(storage.remove("a").error().message(), HasSubstr("Read-only file system"));
    storage.set_read_only(false);
    EXPECT_TRUE(storage.remove("a"));
}

TEST(MemoryStorage, ABitFlipsAndStaysSo) {
    MemoryStorage storage;
    put(storage, "a", "abc");
    ASSERT_TRUE(storage.sync_directory(""));
    EXPECT_TRUE(storage.flip_bit("a", 1));
    EXPECT_EQ(read_text(storage, "a", 10).value(), "acc");
    EXPECT_THAT(outcomes(storage), ElementsAre("a=acc "));
    EXPECT_FALSE(storage.flip_bit("a", 3));
    EXPECT_FALSE(storage.flip_bit("b", 0));
    EXPECT_FALSE(storage.flip_bit("", 0));
}

TEST(MemoryStorage, EachOperationIsToldBeforeItIsDone) {
    MemoryStorage storage;
    std::vector<std::string> told;
    storage.before_each([&](std::string_view operation) {
        told.emplace_back(operation);
        EXPECT_EQ(storage.operations(), told.size() - 1) << "and what it asks is answered";
    });
    put(storage, "a", "x");
    EXPECT_EQ(told, storage.history());
}

TEST(MemoryStorage, ALockGoesWithThePower) {
    MemoryStorage storage;
    const auto lock = storage.lock("lock", "a test");
    ASSERT_TRUE(lock);
    EXPECT_FALSE(storage.lock("lock", "a test"));
    EXPECT_TRUE(storage.after_power_loss(1)->lock("lock", "a test"));
}

}  // namespace
}  // namespace muster::checkpoint::memory_storage_test
