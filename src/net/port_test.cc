#include "net/port.h"

#include <gtest/gtest.h>

#include <utility>

namespace muster::net::port_test {
namespace {

TEST(Port, IsANumberAndNothingElse) {
    const std::pair<std::string_view, std::optional<std::uint16_t>> rows[] = {
        {"1", 1},      {"22", 22},  {"65535", 65535}, {"0080", 80}, {"0", {}},
        {"65536", {}}, {"", {}},    {"-1", {}},       {"+22", {}},  {" 22", {}},
        {"22 ", {}},   {"22x", {}}, {"0x16", {}},     {"http", {}}, {"99999999999", {}}};
    for (const auto& [text, port] : rows) EXPECT_EQ(parse_port(text), port) << text;
}

}  // namespace
}  // namespace muster::net::port_test
