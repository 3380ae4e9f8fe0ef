#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "checkpoint/storage/aligned_buffer.h"
#include "checkpoint/storage/directory_storage.h"
#include "checkpoint/storage/durable_text.h"
#include "checkpoint/storage/memory_storage.h"
#include "checkpoint/storage/shard_writer.h"

// What each storage does, whatever it is made of.

namespace muster::checkpoint::storage_contract_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A storage that is empty, and goes with this.
class Made {
  public:
    virtual ~Made() = default;
    virtual Storage& storage() = 0;
};

class MadeOfMemory final : public Made {
  public:
    Storage& storage() override { return storage_; }

  private:
    MemoryStorage storage_;
};

class MadeOfDirectory final : public Made {
  public:
    explicit MadeOfDirectory(const char* below) {
        std::string pattern = (fs::path(below) / "storage-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        storage_ = DirectoryStorage::in(folder_).value();
    }
    ~MadeOfDirectory() override { fs::remove_all(folder_); }
    Storage& storage() override { return *storage_; }

  private:
    fs::path folder_;
    std::unique_ptr<DirectoryStorage> storage_;
};

struct Kind {
    const char* name;
    std::function<std::unique_ptr<Made>()> make;
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

std::string bytes_of_text(const Storage& storage, std::string_view path) {
    return read_text(storage, path, 1 << 20).value_or("none");
}

class StorageContract : public ::testing::TestWithParam<Kind> {
  protected:
    StorageContract() : made_(GetParam().make()), storage_(made_->storage()) {}

    void put(std::string_view path, std::string_view text) {
        const auto file = storage_.create(path, text.size());
        ASSERT_TRUE(file) << file.error().message();
        ASSERT_TRUE((*file)->write(0, std::as_bytes(std::span(text))));
        ASSERT_TRUE((*file)->sync());
    }
    std::string text(std::string_view path) const { return bytes_of_text(storage_, path); }
    std::vector<std::string> names(std::string_view path) const {
        std::vector<std::string> all;
        for (const Storage::Entry& entry : storage_.list(path).value()) {
            all.push_back(entry.name);
            if (entry.directory)
                all.back() += "/";
            else
                all.back() += ":" + std::to_string(entry.bytes);
        }
        return all;
    }

    std::unique_ptr<Made> made_;
    Storage& storage_;
};

template <class T>
std::string code_of(const Result<T>& result) {
    return std::string(result ? "done" : to_string(result.error().code()));
}

TEST_P(StorageContract, AFileIsWhatWasWritten) {
    ASSERT_TRUE(storage_.make_directory("1000"));
    put("1000/a", "what it says");
    put("LATEST", "1000\n");
    EXPECT_EQ(text("1000/a"), "what it says");
    EXPECT_THAT(names(""), ElementsAre("1000/", "LATEST:5"));
    EXPECT_THAT(names("1000"), ElementsAre("a:12"));
    EXPECT_GT(storage_.list("").value()[1].modified_unix, 1'500'000'000);
    put("1000/a", "else");
    EXPECT_EQ(text("1000/a"), "else");
    put("empty", "");
    EXPECT_EQ(text("empty"), "");
    EXPECT_EQ(storage_.open("empty").value()->bytes(), 0u);
}

/// What a byte of a file is, so that none has the value of one that is near.
std::byte byte_at(std::size_t place) { return static_cast<std::byte>(place % 251 + place / 4096); }

TEST_P(StorageContract, PartsAreWrittenAndReadFromAnyPlace) {
    constexpr std::size_t kBytes = 10 * kPage + 123;
    AlignedBuffer memory(kBytes + kPage);
    AlignedBuffer back(kBytes + kPage);
    const struct {
        std::size_t part;    // bytes that are written at once
        std::size_t offset;  // of the memory from a page
    } cases[] = {{kBytes, 0},    {kBytes, 1},    {kPage, 0}, {kPage, 8},
                 {2 * kPage, 0}, {kPage + 1, 0}, {1000, 0},  {3 * kPage - 1, 5}};
    for (const auto& [part, offset] : cases) {
        SCOPED_TRACE(::testing::Message() << part << " at " << offset);
        const std::span<std::byte> content = memory.bytes().subspan(offset, kBytes);
        for (std::size_t i = 0; i < kBytes; ++i) content[i] = byte_at(i);
        const auto file = storage_.create("a", kBytes).value();
        // The last one first.
        for (std::size_t begin = (kBytes - 1) / part * part;; begin -= part) {
            ASSERT_TRUE(file->write(begin, content.subspan(begin, std::min(part, kBytes - begin))));
            if (begin == 0) break;
        }
        ASSERT_TRUE(file->sync());
        const auto stored = storage_.open("a").value();
        ASSERT_EQ(stored->bytes(), kBytes);
        for (std::size_t begin = 0; begin < kBytes; begin += part) {
            const std::size_t count = std::min(part, kBytes - begin);
            const auto into = back.bytes().subspan(offset, count);
            ASSERT_TRUE(stored->read(begin, into));
            for (std::size_t i = 0; i < count; ++i)
                ASSERT_EQ(into[i], byte_at(begin + i)) << begin + i;
        }
    }
}

TEST_P(StorageContract, ThreadsWriteOneFileAtOnce) {
    constexpr std::size_t kThreads = 4;
    constexpr std::size_t kParts = 16;
    constexpr std::size_t kPart = 3 * kPage;
    const auto file = storage_.create("a", kThreads * kParts * kPart).value();
    {
        std::vector<std::jthread> threads;
        for (std::size_t thread = 0; thread < kThreads; ++thread)
            threads.emplace_back([&, thread] {
                AlignedBuffer mine(kPart);
                for (std::size_t part = thread; part < kThreads * kParts; part += kThreads) {
                    std::memset(mine.bytes().data(), static_cast<int>(part), kPart);
                    EXPECT_TRUE(file->write(part * kPart, mine.bytes()));
                }
            });
    }
    ASSERT_TRUE(file->sync());
    const auto stored = storage_.open("a").value();
    std::vector<std::byte> all(stored->bytes());
    ASSERT_TRUE(stored->read(0, all));
    for (std::size_t i = 0; i < all.size(); ++i)
        ASSERT_EQ(all[i], static_cast<std::byte>(i / kPart)) << i;
}

TEST_P(StorageContract, BeyondAFileIsRefused) {
    const std::vector<std::byte> bytes(100);
    const auto file = storage_.create("a", 100).value();
    EXPECT_TRUE(file->write(0, bytes));
    EXPECT_EQ(code_of(file->write(1, bytes)), "Invalid");
    EXPECT_EQ(code_of(file->write(std::numeric_limits<std::uint64_t>::max(), bytes)), "Invalid");
    ASSERT_TRUE(file->sync());
    std::vector<std::byte> into(100);
    const auto stored = storage_.open("a").value();
    EXPECT_TRUE(stored->read(0, into));
    EXPECT_EQ(code_of(stored->read(1, into)), "Invalid");
    EXPECT_THAT(stored->read(1, into).error().message(), HasSubstr("it ends after 100 bytes"));
    EXPECT_EQ(code_of(stored->read(101, std::span(into).first(1))), "Invalid");
}

TEST_P(StorageContract, AFileHasItsBytesFromTheBegin) {
    const auto file = storage_.create("a", 5000);
    ASSERT_TRUE(file);
    EXPECT_THAT(names(""), ElementsAre("a:5000"));
    EXPECT_EQ(text("a"), std::string(5000, '\0'));
}

TEST_P(StorageContract, WhoHasAFileOpenKeepsIt) {
    put("a", "old");
    const auto old = storage_.open("a").value();
    put("a", "new one");
    std::string now(3, ' ');
    ASSERT_TRUE(old->read(0, std::as_writable_bytes(std::span(now))));
    EXPECT_EQ(now, "old");
    ASSERT_TRUE(storage_.remove("a"));
    ASSERT_TRUE(old->read(0, std::as_writable_bytes(std::span(now))));
    EXPECT_EQ(now, "old");
}

TEST_P(StorageContract, DirectoriesAreMadeWithThoseAbove) {
    ASSERT_TRUE(storage_.make_directory(".muster/1500.3.17"));
    ASSERT_TRUE(storage_.make_directory(".muster/1500.3.17"));
    ASSERT_TRUE(storage_.make_directory(""));
    put(".muster/1500.3.17/a", "x");
    ASSERT_TRUE(storage_.make_directory(".muster/1500.3.17"));
    EXPECT_THAT(names(".muster"), ElementsAre("1500.3.17/"));
    EXPECT_THAT(names(".muster/1500.3.17"), ElementsAre("a:1"));
    EXPECT_TRUE(storage_.sync_directory(".muster"));
    EXPECT_TRUE(storage_.sync_directory(""));
}

TEST_P(StorageContract, AFileIsRenamedOverAnotherOne) {
    ASSERT_TRUE(storage_.make_directory("1000"));
    put("1000/a.tmp", "new");
    put("1000/a", "old");
    ASSERT_TRUE(storage_.rename("1000/a.tmp", "1000/a"));
    EXPECT_EQ(text("1000/a"), "new");
    EXPECT_THAT(names("1000"), ElementsAre("a:3"));
    ASSERT_TRUE(storage_.rename("1000/a", "1000/a")) << "to itself";
    ASSERT_TRUE(storage_.rename("1000/a", "b"));
    EXPECT_THAT(names("1000"), IsEmpty());
    EXPECT_EQ(text("b"), "new");
}

TEST_P(StorageContract, ADirectoryIsRenamedOverAnEmptyOne) {
    ASSERT_TRUE(storage_.make_directory(".muster/x"));
    ASSERT_TRUE(storage_.make_directory("empty"));
    ASSERT_TRUE(storage_.make_directory("full"));
    put("full/a", "1");
    put(".muster/x/a", "22");
    put("file", "333");
    EXPECT_EQ(code_of(storage_.rename(".muster/x", "full")), "Conflict");
    EXPECT_EQ(code_of(storage_.rename(".muster/x", "file")), "Conflict");
    EXPECT_EQ(code_of(storage_.rename("file", "empty")), "Conflict");
    EXPECT_EQ(code_of(storage_.rename("full", "full/b")), "Invalid");
    EXPECT_EQ(code_of(storage_.rename("full/a", "full")), "Conflict");
    ASSERT_TRUE(storage_.rename(".muster/x", "empty"));
    EXPECT_THAT(names(".muster"), IsEmpty());
    EXPECT_THAT(names("empty"), ElementsAre("a:2"));
    EXPECT_THAT(names(""), ElementsAre(".muster/", "empty/", "file:3", "full/"));
}

TEST_P(StorageContract, TwoNamesAreExchanged) {
    ASSERT_TRUE(storage_.make_directory("1000"));
    ASSERT_TRUE(storage_.make_directory(".muster/x"));
    put("1000/a", "old");
    put(".muster/x/a", "newer");
    ASSERT_TRUE(storage_.exchange(".muster/x", "1000"));
    EXPECT_THAT(names("1000"), ElementsAre("a:5"));
    EXPECT_THAT(names(".muster/x"), ElementsAre("a:3"));
    put("file", "1");
    ASSERT_TRUE(storage_.exchange("file", "1000")) << "a file and a directory";
    EXPECT_THAT(names(""), ElementsAre(".muster/", "1000:1", "file/"));
    EXPECT_TRUE(storage_.exchange("1000", "1000"));
    EXPECT_EQ(code_of(storage_.exchange("1000", "none")), "NotFound");
    EXPECT_EQ(code_of(storage_.exchange("file", "file/a")), "Invalid");
}

TEST_P(StorageContract, RemoveTakesAllThatIsInIt) {
    ASSERT_TRUE(storage_.make_directory("1000/b/c"));
    put("1000/a", "1");
    put("1000/b/c/d", "2");
    put("other", "3");
    ASSERT_TRUE(storage_.remove("1000"));
    EXPECT_THAT(names(""), ElementsAre("other:1"));
    ASSERT_TRUE(storage_.remove("other"));
    EXPECT_THAT(names(""), IsEmpty());
    EXPECT_TRUE(storage_.remove("other")) << "it is not there";
    EXPECT_TRUE(storage_.remove("1000/b/c")) << "nor what is above it";
}

TEST_P(StorageContract, WhatIsNotThereIsNotFound) {
    EXPECT_EQ(code_of(storage_.open("a")), "NotFound");
    EXPECT_EQ(code_of(storage_.open("1000/a")), "NotFound");
    EXPECT_EQ(code_of(storage_.create("1000/a", 1)), "NotFound");
    EXPECT_EQ(code_of(storage_.list("1000")), "NotFound");
    EXPECT_EQ(code_of(storage_.rename("a", "b")), "NotFound");
    EXPECT_EQ(code_of(storage_.rename("a", "a")), "NotFound");
    EXPECT_EQ(code_of(storage_.exchange("a", "b")), "NotFound");
    EXPECT_EQ(code_of(storage_.sync_directory("1000")), "NotFound");
    EXPECT_EQ(code_of(storage_.lock("1000/lock", "a test")), "NotFound");
    put("a", "1");
    EXPECT_EQ(code_of(storage_.rename("a", "1000/b")), "NotFound");
    EXPECT_THAT(names(""), ElementsAre("a:1")) << "nothing was made on the way";
}

TEST_P(StorageContract, AFileIsNoDirectoryAndADirectoryNoFile) {
    ASSERT_TRUE(storage_.make_directory("1000"));
    put("file", "1");
    EXPECT_EQ(code_of(storage_.open("1000")), "Invalid");
    EXPECT_EQ(code_of(storage_.open("")), "Invalid");
    EXPECT_EQ(code_of(storage_.create("1000", 1)), "Conflict");
    EXPECT_EQ(code_of(storage_.list("file")), "Invalid");
    EXPECT_EQ(code_of(storage_.open("file/a")), "Invalid");
    EXPECT_EQ(code_of(storage_.create("file/a", 1)), "Invalid");
    EXPECT_EQ(code_of(storage_.make_directory("file")), "Invalid");
    EXPECT_EQ(code_of(storage_.make_directory("file/a")), "Invalid");
    EXPECT_EQ(code_of(storage_.remove("file/a")), "Invalid");
    EXPECT_EQ(code_of(storage_.sync_directory("file")), "Invalid");
    EXPECT_EQ(code_of(storage_.lock("1000", "a test")), "Invalid");
    EXPECT_THAT(names(""), ElementsAre("1000/", "file:1"));
}

TEST_P(StorageContract, APathDoesNotLeaveTheRoot) {
    for (const std::string path : {"..", "../x", "/etc/passwd", "a/../b", "a//b", "a/", "."}) {
        SCOPED_TRACE(path);
        EXPECT_EQ(code_of(storage_.open(path)), "Invalid");
        EXPECT_EQ(code_of(storage_.create(path, 1)), "Invalid");
        EXPECT_EQ(code_of(storage_.make_directory(path)), "Invalid");
        EXPECT_EQ(code_of(storage_.list(path)), "Invalid");
        EXPECT_EQ(code_of(storage_.rename(path, "x")), "Invalid");
        EXPECT_EQ(code_of(storage_.rename("x", path)), "Invalid");
        EXPECT_EQ(code_of(storage_.exchange(path, "x")), "Invalid");
        EXPECT_EQ(code_of(storage_.exchange("x", path)), "Invalid");
        EXPECT_EQ(code_of(storage_.remove(path)), "Invalid");
        EXPECT_EQ(code_of(storage_.sync_directory(path)), "Invalid");
        EXPECT_EQ(code_of(storage_.lock(path, "a test")), "Invalid");
    }
    EXPECT_EQ(code_of(storage_.remove("")), "Invalid") << "the root stays";
    EXPECT_EQ(code_of(storage_.rename("", "x")), "Invalid");
    EXPECT_EQ(code_of(storage_.create("", 1)), "Invalid");
}

TEST_P(StorageContract, ALockIsHeldByOne) {
    ASSERT_TRUE(storage_.make_directory(".muster"));
    {
        const auto lock = storage_.lock(".muster/lock", "the commit of step 5");
        ASSERT_TRUE(lock) << lock.error().message();
        const auto second = storage_.lock(".muster/lock", "another one");
        EXPECT_EQ(code_of(second), "Conflict");
        EXPECT_THAT(second.error().message(), HasSubstr("the commit of step 5"));
        EXPECT_TRUE(storage_.lock(".muster/other", "another one"));
    }
    EXPECT_TRUE(storage_.lock(".muster/lock", "another one"));
    EXPECT_THAT(names(".muster"), ElementsAre("lock:0", "other:0")) << "its name stays";
}

TEST_P(StorageContract, ALockThatIsRemovedExcludesNoMore) {
    const auto lock = storage_.lock("lock", "one");
    ASSERT_TRUE(lock);
    ASSERT_TRUE(storage_.remove("lock"));
    EXPECT_TRUE(storage_.lock("lock", "other"));
}

TEST_P(StorageContract, ATextIsWrittenInThePlaceOfTheOldOne) {
    ASSERT_TRUE(write_text_durably(storage_, "", "LATEST", "1000\n"));
    ASSERT_TRUE(write_text_durably(storage_, "", "LATEST", "2000\n"));
    EXPECT_EQ(text("LATEST"), "2000\n");
    EXPECT_THAT(names(""), ElementsAre("LATEST:5"));
    EXPECT_EQ(code_of(read_text(storage_, "LATEST", 4)), "TooLarge");
    EXPECT_EQ(code_of(read_text(storage_, "none", 4)), "NotFound");
    EXPECT_EQ(code_of(write_text_durably(storage_, "none", "LATEST", "")), "NotFound");
}

TEST_P(StorageContract, AShardIsWrittenAndVerified) {
    ASSERT_TRUE(storage_.make_directory("1000"));
    std::vector<std::byte> content(100'000);
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = byte_at(i);
    const auto all = std::span<const std::byte>(content);
    const auto shard =
        write_shard(storage_, "1000", "rank_00000.safetensors", {all.first(5), all.subspan(5)}, 2);
    ASSERT_TRUE(shard) << shard.error().message();
    EXPECT_EQ(shard->path, "rank_00000.safetensors");
    EXPECT_EQ(shard->bytes, content.size());
    EXPECT_THAT(names("1000"), ElementsAre("rank_00000.safetensors:100000"));
    EXPECT_THAT(verify_shard(storage_, "1000", *shard, 2).value(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    All, StorageContract,
    ::testing::Values(
        Kind{"Memory", [] { return std::make_unique<MadeOfMemory>(); }},
        Kind{"Directory",
             [] { return std::make_unique<MadeOfDirectory>(fs::temp_directory_path().c_str()); }},
        // Where direct I/O may be something else than on a disk.
        Kind{"DirectoryInMemory", [] { return std::make_unique<MadeOfDirectory>("/dev/shm"); }}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace muster::checkpoint::storage_contract_test
