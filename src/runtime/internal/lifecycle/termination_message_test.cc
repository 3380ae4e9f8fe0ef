#include "runtime/internal/lifecycle/termination_message.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

namespace muster::runtime::termination_message_test {
namespace {

namespace fs = std::filesystem;

class TerminationMessage : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = "/tmp/muster-message-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        dir = pattern;
    }
    void TearDown() override { fs::remove_all(dir); }
    void write(const char* name, const std::string& text) { std::ofstream(dir / name) << text; }
    std::string read(bool from_log) {
        return read_termination_message(dir / "file", dir / "log", from_log);
    }
    static std::string line(const std::string& text, char full = 'F') {
        return std::string("2026-01-01T00:00:00.000000000Z stderr ") + full + " " + text + "\n";
    }
    fs::path dir;
};

TEST_F(TerminationMessage, TheEndOfTheFileAndNothingOfTheLog) {
    write("file", "said\n");
    write("log", line("logged"));
    EXPECT_EQ(read(false), "said\n");
    EXPECT_EQ(read(true), "said\n");
    write("file", "x" + std::string(4095, 'y') + "z");
    EXPECT_EQ(read(false), std::string(4095, 'y') + "z");
}

TEST_F(TerminationMessage, AnEmptyFileFallsBackToTheLogWhereThatIsWanted) {
    write("file", "");
    write("log", line("one") + line("tw", 'P') + line("o"));
    EXPECT_EQ(read(false), "");
    EXPECT_EQ(read(true), "one\ntwo\n");
    fs::remove(dir / "file");
    EXPECT_EQ(read(true), "one\ntwo\n") << "nor need there be a file";
    fs::remove(dir / "log");
    EXPECT_EQ(read(true), "");
}

TEST_F(TerminationMessage, EightyLinesOrTwoKilobytesOfTheLog) {
    std::string log;
    std::string last;
    for (int i = 0; i < 100; ++i) {
        log += line(std::to_string(i));
        if (i >= 20) last += std::to_string(i) + "\n";
    }
    write("log", log);
    EXPECT_EQ(read(true), last);
    write("log", line(std::string(3000, 'a')) + line("end"));
    EXPECT_EQ(read(true), std::string(2043, 'a') + "\nend\n");
    write("log", line(std::string(16384, 'b'), 'P') + line(std::string(16384, 'b'), 'P') +
                     line(std::string(16384, 'b'), 'P') + line(std::string(16384, 'b'), 'P') +
                     line("c"));
    EXPECT_EQ(read(true), std::string(2046, 'b') + "c\n");
}

TEST_F(TerminationMessage, WhatCantBeReadSaysSo) {
    fs::create_directory(dir / "file");
    EXPECT_NE(read(true).find("Error on reading termination log"), std::string::npos);
}

}  // namespace
}  // namespace muster::runtime::termination_message_test
