#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>

#include "checkpoint/format/flattened_tree.h"
#include "checkpoint/format/python_fixture.h"
#include "checkpoint/format/torch_pickle.h"
#include "checkpoint/format/torch_reader.h"
#include "checkpoint/format/zip_reader.h"
#include "checkpoint/format/zip_writer.h"

// Archives as they are written and read, small ones and those that need wide numbers.

namespace muster::checkpoint::zip_test {
namespace {

using ::testing::HasSubstr;

/// Over pieces, so that a file may be much longer than memory.
FileBytes over(const Pieces& pieces) {
    return {.bytes = bytes_of(pieces),
            .read = [&pieces](std::uint64_t at, std::span<std::byte> into) -> Result<void> {
                for (const auto& piece : pieces) {
                    if (at >= piece.size()) {
                        at -= piece.size();
                        continue;
                    }
                    const std::size_t count = std::min(into.size(), piece.size() - at);
                    std::memcpy(into.data(), piece.data() + at, count);
                    into = into.subspan(count);
                    at = 0;
                    if (into.empty()) break;
                }
                return {};
            }};
}
FileBytes over(const std::string& text) {
    return {.bytes = text.size(),
            .read = [&text](std::uint64_t at, std::span<std::byte> into) -> Result<void> {
                std::memcpy(into.data(), text.data() + at, into.size());
                return {};
            }};
}

std::string small() {
    Composed file;
    ZipWriter zip(file);
    EXPECT_TRUE(zip.add_owned("a/é", "hello"));
    EXPECT_TRUE(zip.add_owned("a/empty", ""));
    zip.finish();
    return text_of(file);
}

TEST(Zip, IsReadAsItWasWritten) {
    const std::string text = small();
    const auto entries = read_zip(over(text));
    ASSERT_TRUE(entries) << entries.error().message();
    ASSERT_EQ(entries->size(), 2u);
    EXPECT_EQ(entries->at(0).name, "a/é");
    EXPECT_EQ(text.substr(entries->at(0).begin, entries->at(0).bytes), "hello");
    EXPECT_EQ(entries->at(0).crc, 0x3610a686u);
    EXPECT_EQ(entries->at(0).begin % kZipAlignment, 0u);
    EXPECT_EQ(entries->at(1).begin % kZipAlignment, 0u);
    EXPECT_EQ(entries->at(1).bytes, 0u);
    const std::string with_comment = text.substr(0, text.size() - 2) + std::string("\5\0words", 7);
    EXPECT_EQ(read_zip(over(with_comment)).value().size(), 2u);
}

TEST(Zip, WhatIsCutOffOrDamagedIsRefused) {
    const std::string text = small();
    for (std::size_t i = 0; i < text.size(); ++i) EXPECT_FALSE(read_zip(over(text.substr(0, i))));
    const auto with = [&](std::size_t at, char byte) {
        std::string damaged = text;
        damaged[at] = byte;
        const auto read = read_zip(over(damaged));
        return read ? "" : read.error().message();
    };
    const std::size_t directory = text.find("PK\1\2");
    const std::size_t end = text.find("PK\5\6");
    EXPECT_THAT(with(directory + 10, 8), HasSubstr("compressed"));
    EXPECT_THAT(with(directory + 8, 1), HasSubstr("encrypted"));
    EXPECT_THAT(with(directory + 27, 1), HasSubstr("compressed")) << "two sizes";
    EXPECT_THAT(with(directory, 0), HasSubstr("directory is damaged"));
    EXPECT_THAT(with(directory + 29, 9), HasSubstr("cut off"));
    EXPECT_THAT(with(directory + 45, 9), HasSubstr("ends too early")) << "of the first header";
    EXPECT_THAT(with(0, 0), HasSubstr("the header of an entry"));
    EXPECT_THAT(with(29, '\x7f'), HasSubstr("not within it"));
    EXPECT_THAT(with(end + 4, 1), HasSubstr("several disks"));
    EXPECT_THAT(with(end + 10, 3), HasSubstr("cut off"));
    EXPECT_THAT(with(end + 15, 1), HasSubstr("not within it"));
    EXPECT_EQ(read_zip(over(text), {.entries = 1}).error().code(), Code::kTooLarge);
    EXPECT_EQ(read_zip(over(text), {.directory = 10}).error().code(), Code::kTooLarge);
}

class WideZipTest : public PythonTest {
  protected:
    WideZipTest() : PythonTest("zipfile") {}
};

TEST_F(WideZipTest, MoreEntriesThan16BitsCount) {
    Composed file;
    ZipWriter zip(file);
    for (int i = 0; i < 70'000; ++i)
        ASSERT_TRUE(zip.add_owned(fmt::format("a/{}", i), i % 1000 == 0 ? "x" : ""));
    zip.finish();
    const std::string text = text_of(file);
    const auto entries = read_zip(over(text));
    ASSERT_TRUE(entries) << entries.error().message();
    ASSERT_EQ(entries->size(), 70'000u);
    EXPECT_EQ(entries->back().name, "a/69999");
    write("many.zip", text);
    python(
        "import zipfile\n"
        "many = zipfile.ZipFile('many.zip')\n"
        "assert len(many.namelist()) == 70000 and many.read('a/69000') == b'x'\n");
}

TEST_F(WideZipTest, SizesAndPlacesThatNeedMoreThan32Bits) {
    constexpr std::uint64_t kLarge = std::uint64_t{5} << 30;
    // Never touched: it is a hole in the file, too, and its checksum is not asked for.
    void* const memory =
        ::mmap(nullptr, kLarge, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    const std::span<const std::byte> large(static_cast<const std::byte*>(memory), kLarge);
    Composed file;
    ZipWriter zip(file);
    ASSERT_TRUE(zip.add_owned("a/first", "1"));
    ASSERT_TRUE(zip.add("a/large", large, 0));
    ASSERT_TRUE(zip.add("a/half", large.first(kLarge / 2), 0));
    ASSERT_TRUE(zip.add_owned("a/last", "last"));
    zip.finish();
    const auto entries = read_zip(over(file.pieces()));
    ASSERT_TRUE(entries) << entries.error().message();
    ASSERT_EQ(entries->size(), 4u);
    EXPECT_EQ(entries->at(1).bytes, kLarge);
    EXPECT_EQ(entries->at(2).bytes, kLarge / 2);
    EXPECT_GT(entries->at(2).begin, kLarge);
    for (const ZipEntry& entry : *entries) EXPECT_EQ(entry.begin % kZipAlignment, 0u) << entry.name;
    {
        std::ofstream holes(folder() / "large.zip", std::ios::binary);
        for (const auto& piece : file.pieces())
            if (piece.data() == large.data())
                holes.seekp(static_cast<std::streamoff>(piece.size()), std::ios::cur);
            else
                holes.write(reinterpret_cast<const char*>(piece.data()),
                            static_cast<std::streamsize>(piece.size()));
    }
    ::munmap(memory, kLarge);
    python(
        "import zipfile\n"
        "large = zipfile.ZipFile('large.zip')\n"
        "assert [one.file_size for one in large.infolist()] == [1, 5 << 30, 5 << 29, 4]\n"
        "assert large.read('a/last') == b'last' and large.read('a/first') == b'1'\n"
        "assert large.open('a/half').read(5) == bytes(5)\n");
}

class TorchReaderTest : public PythonTest {
  protected:
    TorchReaderTest() : PythonTest("torch") {}
};

TEST_F(TorchReaderTest, TheNumbersAreWhereTorchPutThem) {
    python(R"py(
import torch
base = torch.arange(10, dtype=torch.int16)
torch.save({"w": base[2:5], "p": torch.nn.Parameter(torch.full((2,), 1.5)), "tied": base, "n": 3}, "theirs.pt")
)py");
    const std::string text = read("theirs.pt");
    const auto file = read_torch_file(over(text));
    ASSERT_TRUE(file) << file.error().message();
    ASSERT_EQ(file->storages.size(), 2u);
    const auto numbers = [&]<class T>(const StoredStorage& stored, std::vector<T> all) {
        EXPECT_EQ(stored.bytes, all.size() * sizeof(T));
        std::memcpy(all.data(), text.data() + stored.begin, stored.bytes);
        return all;
    };
    EXPECT_EQ(file->storages[0].storage.dtype, "int16");
    EXPECT_THAT(numbers(file->storages[0], std::vector<std::int16_t>(10)),
                ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
    EXPECT_THAT(numbers(file->storages[1], std::vector<float>(2)),
                ::testing::ElementsAre(1.5f, 1.5f));
    const auto leaves = flatten(file->tree);
    ASSERT_TRUE(leaves);
    ASSERT_EQ(leaves->size(), 4u);
    const auto view = torch_tensor(file->tree, leaves->at(0).node);
    ASSERT_TRUE(view && *view);
    EXPECT_EQ((*view)->offset, 2u);
    EXPECT_EQ((*view)->shape, std::vector<std::uint64_t>{3});
    EXPECT_TRUE(torch_tensor(file->tree, leaves->at(1).node).value()) << "a parameter";
    for (std::size_t i = 0; i < text.size(); i += 7)
        EXPECT_FALSE(read_torch_file(over(text.substr(0, i))));
}

TEST(TorchReader, WhatIsMissingIsTold) {
    const auto said = [](std::vector<std::pair<std::string, std::string>> entries) {
        Composed file;
        ZipWriter zip(file);
        for (auto& [name, content] : entries) EXPECT_TRUE(zip.add_owned(name, content));
        zip.finish();
        const auto read = read_torch_file(over(file.pieces()));
        return read ? "" : read.error().message();
    };
    PickleWriter tree;
    write_torch_storage(tree, {.key = "k", .dtype = "float32", .element_bytes = 4, .elements = 2});
    const std::string pickle = tree.finish();
    const std::string numbers(8, '\0');
    EXPECT_EQ(said({{"a/data.pkl", pickle}, {"a/data/k", numbers}}), "");
    EXPECT_THAT(said({}), HasSubstr("empty"));
    EXPECT_THAT(said({{"a/x", "1"}}), HasSubstr("no data.pkl"));
    EXPECT_THAT(said({{"a/data.pkl", pickle}, {"a/data/k", numbers.substr(1)}}),
                HasSubstr("storage \"k\" are missing"));
    EXPECT_THAT(said({{"a/data.pkl", pickle}, {"b/data/k", numbers}}), HasSubstr("missing"));
    EXPECT_THAT(said({{"a/data.pkl", pickle}, {"a/data/k", numbers}, {"a/byteorder", "big"}}),
                HasSubstr("big-endian"));
    EXPECT_THAT(said({{"a/data.pkl", "?"}}), HasSubstr("not read"));
}

}  // namespace
}  // namespace muster::checkpoint::zip_test
