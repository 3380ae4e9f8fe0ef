#include "runtime/internal/limits/accounts.h"

#include <gtest/gtest.h>

namespace muster::runtime::accounts_test {
namespace {

constexpr const char* kPasswd =
    "root:x:0:0:root:/root:/bin/sh\n"
    "broken line\n"
    "ada:x:1000:1000:Ada,,,:/home/ada:/bin/bash\n"
    "twin:x:1000:5:second of this number:/twin:/bin/bash\n"
    "nogroup:x:1001\n"
    "last:x:1002:1002::/home/last";
constexpr const char* kGroup =
    "root:x:0:\n"
    "video:x:44:ada,root\n"
    "ada:x:1000:ada\n"
    "render:x:109:eve,ada\n"
    "adapted:x:110:adam\n";

TEST(Accounts, AreFoundByNumber) {
    struct Case {
        std::uint32_t uid;
        std::optional<Account> expected;
    };
    const Case cases[] = {
        {0, Account{"root", 0, "/root", {44}}},
        {1000, Account{"ada", 1000, "/home/ada", {44, 109}}},
        {1001, std::nullopt},
        {1002, Account{"last", 1002, "/home/last", {}}},
        {77, std::nullopt},
    };
    for (const Case& c : cases)
        EXPECT_EQ(find_account(kPasswd, kGroup, c.uid), c.expected) << c.uid;
    EXPECT_EQ(find_account("", "", 0), std::nullopt);
}

}  // namespace
}  // namespace muster::runtime::accounts_test
