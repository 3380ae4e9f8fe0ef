#include "base/text_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>

#include "base/unique_fd.h"

namespace muster::text_files_test {
namespace {

TEST(WriteAll, WhatIsWrittenIsRead) {
    const UniqueFd file(::memfd_create("text", MFD_CLOEXEC));
    const std::string text = std::string(3 << 20, 'x') + "end";
    EXPECT_EQ(write_all(file.get(), text), 0);
    EXPECT_EQ(write_all(file.get(), ""), 0);
    EXPECT_EQ(*read_text("/proc/self/fd/" + std::to_string(file.get())), text);
}

TEST(WriteAll, ReturnsWhyItFailed) {
    const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    EXPECT_EQ(write_all(full.get(), "x"), ENOSPC);
    const UniqueFd reads(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(write_all(reads.get(), "x"), EBADF);
}

}  // namespace
}  // namespace muster::text_files_test
