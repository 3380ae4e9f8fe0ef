#include <gmock/gmock.h>

#include "base/rng.h"
#include "cli/internal/archive/tar_blocks.h"
#include "cli/internal/archive/tar_reader.h"
#include "cli/internal/archive/tar_writer.h"

namespace muster::cli::tar_test {
namespace {

using ::testing::HasSubstr;

struct Member {
    TarEntry entry;
    std::string content = {};

    friend bool operator==(const Member&, const Member&) = default;
};

std::string archive(const std::vector<Member>& members) {
    std::string bytes;
    for (const Member& member : members) {
        bytes += tar_header(member.entry) + member.content;
        bytes.append(tar_padding(member.content.size()), '\0');
    }
    return bytes + tar_end();
}

Member file(std::string path, std::string content) {
    const std::size_t size = content.size();
    return {{.path = std::move(path), .link = {}, .size = size, .mode = 0640}, std::move(content)};
}

/// The members, or the error as a member.
std::vector<Member> read(std::string_view bytes, std::size_t piece = SIZE_MAX) {
    TarReader reader;
    std::vector<Member> members;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::string_view next = bytes.substr(at, piece);
        at += next.size();
        reader.put(next);
        for (;;) {
            auto event = reader.next();
            if (!event) return {Member{{.path = event.error().message(), .link = {}}}};
            if (!*event) break;
            if ((*event)->entry)
                members.push_back({*(*event)->entry});
            else
                members.back().content += (*event)->data;
        }
    }
    if (!reader.complete()) return {Member{{.path = "cut short", .link = {}}}};
    return members;
}

std::vector<Member> samples() {
    return {
        {{.kind = TarEntry::Kind::kDirectory, .path = "tree/", .link = {}, .mode = 0755}},
        file("tree/empty", ""),
        file("tree/a", "hello"),
        file("tree/block", std::string(kTarBlock, 'x')),
        file("tree/" + std::string(300, 'n'), std::string(3 * kTarBlock + 1, 'y')),
        {{.kind = TarEntry::Kind::kSymbolicLink,
          .path = "tree/link",
          .link = std::string(200, 'l'),
          .mode = 0777}},
    };
}

TEST(Tar, WhatIsWrittenIsReadHoweverItArrives) {
    const std::string bytes = archive(samples());
    for (const std::size_t piece : {SIZE_MAX, std::size_t{1}, std::size_t{511}, std::size_t{512}})
        EXPECT_EQ(read(bytes, piece), samples()) << piece;
}

TEST(Tar, LargeNumbersAreInBase256) {
    TarEntry entry{.path = "large", .link = {}, .size = std::uint64_t{1} << 40};
    TarReader reader;
    reader.put(tar_header(entry));
    const auto event = reader.next();
    ASSERT_TRUE(event && *event && (*event)->entry);
    EXPECT_EQ((*event)->entry->size, entry.size);
    EXPECT_FALSE(reader.complete());
}

std::string of_type(const std::string& path, char type, const std::string& content) {
    std::string header = tar_header({.path = path, .link = {}, .size = content.size()});
    header[kTarType.at] = type;
    header.replace(kTarChecksum.at, kTarChecksum.size, "        ");
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    header.replace(kTarChecksum.at, 7, fmt::format("{:06o}", sum) + '\0');
    return header + content + std::string(tar_padding(content.size()), '\0');
}

TEST(Tar, AttributesOfPosixCount) {
    const std::string name(120, 'p');
    std::string attributes = fmt::format("{} path={}\n", 120 + 5 + 4 + 1, name);
    attributes += "30 mtime=1350244992.023960108\n";
    attributes += "9 size=2\n";
    const std::string bytes = of_type("x", 'x', attributes) + of_type("short", '0', "ab") +
                              of_type("y", 'g', attributes) + of_type("next", '0', "") + tar_end();
    const auto members = read(bytes);
    ASSERT_EQ(members.size(), 2u) << members[0].entry.path;
    EXPECT_EQ(members[0].entry.path, name);
    EXPECT_EQ(members[0].content, "ab");
    EXPECT_EQ(members[1].entry.path, "next");
}

TEST(Tar, TheContentOfOtherMembersIsPassedOver) {
    const std::string bytes = of_type("device", '3', "") +
                              of_type("what", 'Z', std::string(700, 'z')) +
                              of_type("after", '0', "ok") + tar_end();
    const auto members = read(bytes);
    ASSERT_EQ(members.size(), 3u);
    EXPECT_EQ(members[1].entry.kind, TarEntry::Kind::kOther);
    EXPECT_EQ(members[1].content, "");
    EXPECT_EQ(members[2].content, "ok");
}

TEST(Tar, DamageIsTold) {
    std::string wrong_sum = archive({file("a", "b")});
    wrong_sum[0] = 'c';
    EXPECT_THAT(read(wrong_sum)[0].entry.path, HasSubstr("sum is wrong"));
    EXPECT_EQ(read(archive({file("a", "bcd")}).substr(0, 514))[0].entry.path, "cut short");
    EXPECT_THAT(read(of_type("x", 'x', "99 path=a\n"))[0].entry.path, HasSubstr("length"));
    EXPECT_THAT(read(of_type("x", 'x', "x"))[0].entry.path, HasSubstr("length"));
    EXPECT_THAT(read(of_type("x", 'x', "8 path=a"))[0].entry.path, HasSubstr("does not end"));
    const std::string huge = of_type("n", 'L', std::string(TarReader::kMaxAttributes + 1, 'n'));
    EXPECT_THAT(read(huge)[0].entry.path, HasSubstr("too long"));
    EXPECT_THAT(read(of_type("", '0', ""))[0].entry.path, HasSubstr("without a name"));
}

TEST(Tar, NoBytesEndTheReader) {
    Rng rng(7);
    const std::string good = archive(samples());
    for (int round = 0; round < 2000; ++round) {
        std::string bytes = good;
        for (int i = 0; i < 8; ++i)
            bytes[rng.next() % bytes.size()] = static_cast<char>(rng.next() & 0xff);
        std::ignore = read(bytes, 1 + rng.next() % 700);
    }
}

}  // namespace
}  // namespace muster::cli::tar_test
