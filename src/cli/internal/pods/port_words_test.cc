#include "cli/internal/pods/port_words.h"

#include <gmock/gmock.h>

namespace muster::cli::port_words_test {
namespace {

TEST(PortWords, LocalAndRemote) {
    EXPECT_EQ(parse_forwarded_port("8080:80").value(), (ForwardedPort{8080, "80"}));
    EXPECT_EQ(parse_forwarded_port("8080").value(), (ForwardedPort{8080, "8080"}));
    EXPECT_EQ(parse_forwarded_port(":80").value(), (ForwardedPort{0, "80"}));
    EXPECT_EQ(parse_forwarded_port("0:80").value(), (ForwardedPort{0, "80"}));
    EXPECT_EQ(parse_forwarded_port("8080:http").value(), (ForwardedPort{8080, "http"}));
    EXPECT_EQ(parse_forwarded_port("http").value(), (ForwardedPort{0, "http", true}));
}

TEST(PortWords, OthersAreRefused) {
    for (const char* text : {"", ":", "80:", "x:80", "80:80:80", "65536", "80:65536", "-1", "80:A",
                             "80:a-name-that-is-too-long", "+80", "80: 80"})
        EXPECT_FALSE(parse_forwarded_port(text)) << text;
}

}  // namespace
}  // namespace muster::cli::port_words_test
