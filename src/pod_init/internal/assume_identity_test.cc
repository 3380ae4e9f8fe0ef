#include "pod_init/internal/assume_identity.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include "pod_init/capabilities.h"

namespace muster::pod_init::assume_identity_test {
namespace {

TEST(Identity, IsTakenForGood) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    const pid_t child = ::fork();
    if (child == 0) {
        const char* step = nullptr;
        const Identity identity{.uid = 65534,
                                .gid = 65533,
                                .groups = std::vector<std::uint32_t>{7, 8},
                                .capabilities = capabilities_named("KILL"),
                                .no_new_privileges = true};
        if (assume_identity(identity, step) != 0) ::_exit(1);
        std::array<gid_t, 4> groups{};
        if (::getuid() != 65534 || ::geteuid() != 65534 || ::getegid() != 65533) ::_exit(2);
        if (::getgroups(4, groups.data()) != 2 || groups[0] != 7 || groups[1] != 8) ::_exit(3);
        if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) ::_exit(4);
        if (::prctl(PR_CAPBSET_READ, 5, 0, 0, 0) != 1 || ::prctl(PR_CAPBSET_READ, 0, 0, 0, 0) != 0)
            ::_exit(5);
        // An ordinary user now: the next change is refused, and says which.
        if (assume_identity({.uid = 0, .gid = {}, .groups = {}, .capabilities = {}}, step) != EPERM)
            ::_exit(6);
        ::_exit(std::string_view(step) == "becoming its user" ? 0 : 7);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_TRUE(WIFEXITED(status));
}

}  // namespace
}  // namespace muster::pod_init::assume_identity_test
