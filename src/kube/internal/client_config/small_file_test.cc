#include "kube/internal/client_config/small_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace muster::kube::small_file_test {
namespace {

using testing::HasSubstr;

class SmallFile : public testing::Test {
  protected:
    ~SmallFile() override { std::filesystem::remove(file_); }
    void write(const std::string& text) { std::ofstream(file_) << text; }

    std::string file_ = testing::TempDir() + "muster-small-file-" + std::to_string(::getpid());
};

TEST_F(SmallFile, AWordIsReadWithoutWhatIsAroundIt) {
    for (const char* text : {"word", "word\n", "\r\n word \r\n\r\n"}) {
        write(text);
        EXPECT_EQ(read_word(file_).value(), "word");
        EXPECT_EQ(read_small_file(file_).value(), text);
    }
    write("two words\n");
    EXPECT_EQ(read_word(file_).value(), "two words");
}

TEST_F(SmallFile, WhatHasNoWordIsRefused) {
    for (const std::string& text : {std::string(), std::string(" \n"), std::string(1 << 21, 'x')}) {
        write(text);
        const auto word = read_word(file_);
        ASSERT_FALSE(word);
        EXPECT_EQ(word.error().code(), Code::kInvalid);
        EXPECT_THAT(word.error().message(), HasSubstr(file_));
    }
    std::filesystem::remove(file_);
    const auto missing = read_word(file_);
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().code(), Code::kInvalid);
    EXPECT_THAT(missing.error().message(), HasSubstr(file_));
}

}  // namespace
}  // namespace muster::kube::small_file_test
