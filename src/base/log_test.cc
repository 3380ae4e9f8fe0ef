#include "base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::log_test {
namespace {

class LogTest : public ::testing::Test {
  protected:
    void SetUp() override {
        log::set_sink([this](log::Level, std::string_view line) { lines.emplace_back(line); });
        log::set_level(log::Level::kInfo);
    }
    void TearDown() override {
        log::set_sink({});
        log::set_level(log::Level::kWarning);
    }
    std::vector<std::string> lines;
};

TEST_F(LogTest, FieldsFollowTheMessageAndAreQuotedWhenTheyMustBe) {
    log::info("pod started",
              {{"pod", "a-0"}, {"took_ms", 12}, {"why", "first \"try\"\nagain"}, {"empty", ""}});
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0], R"(pod started pod=a-0 took_ms=12 why="first \"try\"\nagain" empty="")");
}

TEST_F(LogTest, WhatClientsSendIsMadeVisible) {
    log::info("refused", {{"agent", "a\xffz"}, {"title", "\x1b]0;x\x07"}, {"csi", "\xc2\x9bH"}});
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0], "refused agent=a\xef\xbf\xbdz title=\"\\x1b]0;x\\x07\" csi=\\u009bH");
}

TEST_F(LogTest, LinesBelowTheLevelAreNotWritten) {
    log::debug("quiet");
    log::warning("loud");
    EXPECT_EQ(lines, std::vector<std::string>{"loud"});
    log::set_level(log::Level::kOff);
    log::error("off");
    EXPECT_EQ(lines.size(), 1u);
}

TEST(LogFormatTest, JsonIsOneObjectALineWhateverIsInIt) {
    log::set_format(log::Format::kJson);
    testing::internal::CaptureStderr();
    log::warning("pod \"a\"\n", {{"why", "tab\there"}, {"took_ms", 12}});
    const std::string line = testing::internal::GetCapturedStderr();
    log::set_format(log::Format::kText);
    EXPECT_TRUE(line.starts_with("{\"ts\":\"20")) << line;
    EXPECT_TRUE(
        line.ends_with("Z\",\"level\":\"warning\",\"msg\":\"pod \\\"a\\\"\\n\","
                       "\"why\":\"tab\\u0009here\",\"took_ms\":\"12\"}\n"))
        << line;
}

}  // namespace
}  // namespace muster::log_test
