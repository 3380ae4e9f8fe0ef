#include "runtime/internal/limits/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::runtime::identity_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Groups = std::vector<std::uint32_t>;

const Caller kRoot{.uid = 0,
                   .gid = 0,
                   .groups = {},
                   .passwd = "root:x:0:0::/root:\nada:x:1000:100::/home/ada:\n",
                   .group = "video:x:44:ada\n"};
const Caller kAda{
    .uid = 1000, .gid = 100, .groups = {44}, .passwd = kRoot.passwd, .group = kRoot.group};

kube::Pod pod(const char* context) {
    kube::Pod made;
    made.spec.rest["securityContext"] = json::parse(context);
    return made;
}
kube::Container container(const char* context) {
    kube::Container made;
    made.rest["securityContext"] = json::parse(context);
    return made;
}
Result<ContainerSecurity> plan(const char* of_pod, const char* of_container,
                               const Caller& caller = kRoot) {
    return plan_container_security(pod(of_pod), container(of_container), caller);
}

TEST(Identity, AContainerThatAsksForNothingIsTheCallerWithAClustersCapabilities) {
    const auto security = plan("{}", "{}");
    ASSERT_TRUE(security);
    EXPECT_EQ(
        security->identity,
        (pod_init::Identity{
            .uid = {}, .gid = {}, .groups = {}, .capabilities = pod_init::default_capabilities()}));
    EXPECT_FALSE(security->read_only_root);
    EXPECT_THAT(security->not_honoured, IsEmpty());
    const auto ordinary = plan("{}", "{}", kAda);
    ASSERT_TRUE(ordinary);
    EXPECT_EQ(ordinary->identity, pod_init::Identity{});
}

TEST(Identity, WhoItIs) {
    struct Case {
        const char* what;
        const char* pod;
        const char* container;
        std::uint32_t uid;
        std::uint32_t gid;
        Groups groups;
    };
    const Case cases[] = {
        {"a user that the machine knows", R"({"runAsUser":1000})", "{}", 1000, 100, {44}},
        {"one that it does not", R"({"runAsUser":4711})", "{}", 4711, 0, {}},
        {"the container wins",
         R"({"runAsUser":1000,"runAsGroup":5})",
         R"({"runAsUser":0,"runAsGroup":6})",
         0,
         6,
         {}},
        {"the group alone", "{}", R"({"runAsGroup":7})", 0, 7, {}},
        {"groups besides", R"({"supplementalGroups":[9,8,9],"fsGroup":3})", "{}", 0, 0, {3, 8, 9}},
        {"nothing but those",
         R"({"runAsUser":1000,"supplementalGroups":[9],
           "supplementalGroupsPolicy":"Strict"})",
         "{}",
         1000,
         100,
         {9}},
    };
    for (const Case& c : cases) {
        const auto security = plan(c.pod, c.container);
        ASSERT_TRUE(security) << c.what;
        EXPECT_EQ(security->identity.uid, c.uid) << c.what;
        EXPECT_EQ(security->identity.gid, c.gid) << c.what;
        EXPECT_EQ(security->identity.groups, c.groups) << c.what;
        EXPECT_THAT(security->not_honoured, IsEmpty()) << c.what;
    }
}

TEST(Identity, RunAsNonRootIsRefusedToRoot) {
    const auto implicit = plan(R"({"runAsNonRoot":true})", "{}");
    ASSERT_FALSE(implicit);
    EXPECT_THAT(implicit.error().message(), HasSubstr("container has runAsNonRoot"));
    const auto written = plan(R"({"runAsUser":0})", R"({"runAsNonRoot":true})");
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message(), HasSubstr("breaks non-root policy"));
    EXPECT_TRUE(plan(R"({"runAsNonRoot":true})", R"({"runAsNonRoot":false})"));
    EXPECT_TRUE(plan(R"({"runAsNonRoot":true,"runAsUser":1000})", "{}"));
    EXPECT_TRUE(plan(R"({"runAsNonRoot":true})", "{}", kAda));
}

TEST(Identity, Capabilities) {
    const pod_init::Capabilities all = ~std::uint64_t{0};
    const auto one = [](const char* name) { return pod_init::capabilities_named(name); };
    struct Case {
        const char* context;
        pod_init::Capabilities expected;
    };
    const Case cases[] = {
        {R"({"capabilities":{"add":["SYS_ADMIN"]}})",
         pod_init::default_capabilities() | one("SYS_ADMIN")},
        {R"({"capabilities":{"drop":["KILL","cap_chown"]}})",
         pod_init::default_capabilities() & ~one("KILL") & ~one("CHOWN")},
        {R"({"capabilities":{"drop":["ALL"]}})", 0},
        {R"({"capabilities":{"drop":["ALL"],"add":["NET_BIND_SERVICE"]}})",
         one("NET_BIND_SERVICE")},
        {R"({"capabilities":{"add":["ALL"],"drop":["SYS_MODULE"]}})", all & ~one("SYS_MODULE")},
    };
    for (const Case& c : cases) {
        const auto security = plan("{}", c.context);
        ASSERT_TRUE(security) << c.context;
        EXPECT_EQ(security->identity.capabilities, c.expected) << c.context;
    }
    const auto privileged = plan("{}", R"({"privileged":true})");
    ASSERT_TRUE(privileged);
    EXPECT_TRUE(privileged->privileged);
    EXPECT_EQ(privileged->identity.capabilities, std::nullopt);
    EXPECT_THAT(plan("{}", R"({"capabilities":{"add":["FLY"]}})").error().message(),
                HasSubstr("\"FLY\""));
    EXPECT_EQ(one("CHOWN"), 1u);
    EXPECT_EQ(one("CHECKPOINT_RESTORE"), std::uint64_t{1} << 40);
    EXPECT_EQ(one("SYS_TTY_CONFIG"), std::uint64_t{1} << 26);
}

TEST(Identity, WhatAnOrdinaryUserCantGiveIsNamed) {
    const auto security =
        plan(R"({"runAsUser":5,"runAsGroup":6,"supplementalGroups":[44,45]})",
             R"({"privileged":true,"capabilities":{"add":["SYS_PTRACE"],"drop":["ALL"]}})", kAda);
    ASSERT_TRUE(security);
    EXPECT_EQ(security->identity, pod_init::Identity{});
    EXPECT_FALSE(security->privileged);
    EXPECT_THAT(security->not_honoured,
                ElementsAre(HasSubstr("runAsUser"), HasSubstr("runAsGroup"),
                            HasSubstr("supplementalGroups"), HasSubstr("privileged"),
                            HasSubstr("capabilities.add")));
    const auto same = plan(R"({"runAsUser":1000,"runAsGroup":100})", "{}", kAda);
    ASSERT_TRUE(same);
    EXPECT_THAT(same->not_honoured, IsEmpty());
}

TEST(Identity, WhatIsNotDoneIsNamedAndWhatNeedsNothingIsNot) {
    const auto security =
        plan("{}", R"({"seccompProfile":{"type":"RuntimeDefault"},"seLinuxOptions":{"level":"s0"},
                 "appArmorProfile":{"type":"Unconfined"},"allowPrivilegeEscalation":false,
                 "readOnlyRootFilesystem":true,"windowsOptions":null})");
    ASSERT_TRUE(security);
    EXPECT_THAT(security->not_honoured,
                ElementsAre("securityContext.seccompProfile", "securityContext.seLinuxOptions"));
    EXPECT_TRUE(security->identity.no_new_privileges);
    EXPECT_TRUE(security->read_only_root);
    EXPECT_FALSE(plan("{}", R"({"runAsUser":"root"})"));
}

TEST(Identity, ThePodsPart) {
    const auto root = plan_pod_security(
        pod(R"({"fsGroup":2000,"sysctls":[{"name":"net.core.somaxconn","value":"512"},
               {"name":"kernel/shmmax","value":"1"}],"seccompProfile":{"type":"Unconfined"}})"),
        kRoot);
    ASSERT_TRUE(root) << root.error().message();
    EXPECT_EQ(root->fs_group, 2000u);
    EXPECT_THAT(root->sysctls,
                ElementsAre(Sysctl{"net.core.somaxconn", "512"}, Sysctl{"kernel.shmmax", "1"}));
    EXPECT_THAT(root->not_honoured, IsEmpty());
    const auto ada = plan_pod_security(pod(R"({"fsGroup":2000})"), kAda);
    ASSERT_TRUE(ada);
    EXPECT_EQ(ada->fs_group, std::nullopt);
    EXPECT_THAT(ada->not_honoured, ElementsAre(HasSubstr("spec.securityContext.fsGroup")));
    EXPECT_EQ(plan_pod_security(pod(R"({"fsGroup":100})"), kAda)->fs_group, 100u);
    for (const char* name : {"kernel.panic", "vm.swappiness", "net..x", "kernel.shm/../panic"}) {
        kube::Pod asks = pod("{}");
        asks.spec.rest["securityContext"] =
            json::object{{"sysctls", json::array{{{"name", name}, {"value", "1"}}}}};
        const auto forbidden = plan_pod_security(asks, kRoot);
        ASSERT_FALSE(forbidden) << name;
        EXPECT_THAT(forbidden.error().message(), HasSubstr("forbidden sysctl"));
    }
}

TEST(Identity, TheEnvironmentOfAnotherUser) {
    const std::vector<std::string> base = {"PATH=/bin", "HOME=/root", "USER=root", "LOGNAME=root"};
    EXPECT_EQ(environment_of(*plan("{}", "{}"), kRoot, base), base);
    EXPECT_EQ(environment_of(*plan("{}", R"({"runAsUser":0})"), kRoot, base), base);
    EXPECT_THAT(environment_of(*plan("{}", R"({"runAsUser":1000})"), kRoot, base),
                ElementsAre("PATH=/bin", "HOME=/home/ada"));
    EXPECT_THAT(environment_of(*plan("{}", R"({"runAsUser":7})"), kRoot, base),
                ElementsAre("PATH=/bin", "HOME=/"));
}

}  // namespace
}  // namespace muster::runtime::identity_test
