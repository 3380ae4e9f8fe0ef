#include "runtime/internal/network/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::runtime::names_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class NamesTest : public ::testing::Test {
  protected:
    static constexpr std::uint32_t kFirst = 0x0AF40002;
    static NamedPod pod(std::string name, std::string owner = {}, std::string ns = "default") {
        NamedPod made;
        made.namespace_ = std::move(ns);
        made.name = std::move(name);
        made.owner_uid = std::move(owner);
        return made;
    }
    static NamedService service(std::string name, std::map<std::string, std::string> selector = {},
                                std::string owner = {}) {
        return {.namespace_ = "default",
                .name = std::move(name),
                .owner_uid = std::move(owner),
                .selector = std::move(selector)};
    }
    NameTable names{kFirst, kFirst + 3};
};

TEST_F(NamesTest, TheServerIsFoundFromEveryNamespace) {
    names.put(pod("p"));
    names.put(pod("q", {}, "other"));
    EXPECT_THAT(names.hosts_of_owner("default", ""), Not(HasSubstr("kubernetes")));
    names.put_server(0x0A600001);
    EXPECT_THAT(names.hosts_of_owner("default", ""),
                HasSubstr("10.96.0.1\tkubernetes kubernetes.default kubernetes.default.svc "
                          "kubernetes.default.svc.cluster.local\n"));
    EXPECT_THAT(names.hosts_of_owner("other", ""),
                HasSubstr("10.96.0.1\tkubernetes.default kubernetes.default.svc "));
}

TEST_F(NamesTest, ADomainOfTheClustersOwnIsOneMoreForm) {
    NameTable own{kFirst, kFirst + 3, "corp.example"};
    own.put(pod("p"));
    EXPECT_THAT(own.hosts_of_owner("default", ""),
                HasSubstr("p p.default p.default.svc p.default.svc.cluster.local "
                          "p.default.svc.corp.example\n"));
    EXPECT_THAT(name_forms("p", "ns", "cluster.local"),
                ::testing::ElementsAre("p", "p.ns", "p.ns.svc", "p.ns.svc.cluster.local"));
}

TEST_F(NamesTest, APodThatIsThereAlreadyKeepsItsAddress) {
    names.reserve("default", "running", kFirst);
    names.put(pod("new"));
    names.put(pod("running"));
    EXPECT_EQ(names.address("default", "new"), kFirst + 1);
    EXPECT_EQ(names.address("default", "running"), kFirst);
    names.reserve("default", "new", kFirst + 2);
    EXPECT_EQ(names.address("default", "new"), kFirst + 1) << "it has one";
    names.reserve("default", "other", kFirst);
    names.reserve("default", "stranger", kFirst + 9);
    EXPECT_FALSE(names.address("default", "other")) << "another's";
    EXPECT_FALSE(names.address("default", "stranger")) << "none of ours";
    names.remove_pod("default", "running");
    EXPECT_FALSE(names.address("default", "running"));
}

TEST_F(NamesTest, AServiceGivesItsPodAnAddressBeforeThePodIsThere) {
    names.put(service("master-0"));
    auto early = names.address("default", "master-0");
    ASSERT_TRUE(early);
    names.put(pod("master-0"));
    EXPECT_EQ(names.address("default", "master-0"), early);
    names.remove_pod("default", "master-0");
    EXPECT_EQ(names.address("default", "master-0"), early) << "a restarted pod keeps its address";
    names.remove_service("default", "master-0");
    EXPECT_FALSE(names.address("default", "master-0"));
}

TEST_F(NamesTest, AnAddressIsReusedAsLateAsCanBe) {
    names.put(pod("a"));
    names.remove_pod("default", "a");
    names.put(pod("b"));
    EXPECT_EQ(names.address("default", "b"), kFirst + 1);
    for (const char* name : {"c", "d", "e"}) names.put(pod(name));
    EXPECT_EQ(names.address("default", "e"), kFirst);
    names.put(pod("f"));
    EXPECT_FALSE(names.address("default", "f")) << "the range is used up";
}

TEST_F(NamesTest, HostsFileHasEveryFormAndThePodItselfFirst) {
    names.put(pod("w-0", "job"));
    names.put(pod("w-1", "job"));
    EXPECT_THAT(names.hosts_of_pod("default", "w-1"),
                HasSubstr("::1\tlocalhost ip6-localhost ip6-loopback\n"
                          "10.244.0.3\tw-1 w-1.default w-1.default.svc "
                          "w-1.default.svc.cluster.local\n"
                          "10.244.0.2\tw-0 w-0.default w-0.default.svc "
                          "w-0.default.svc.cluster.local\n"));
}

TEST_F(NamesTest, JobsAndNamespacesDoNotSeeEachOther) {
    names.put(pod("a-0", "job-a"));
    names.put(pod("b-0", "job-b"));
    names.put(pod("plain"));
    names.put(pod("other", "", "elsewhere"));
    const std::string hosts = names.hosts_of_pod("default", "a-0");
    EXPECT_THAT(hosts, HasSubstr("plain"));
    EXPECT_THAT(hosts, Not(HasSubstr("b-0")));
    EXPECT_THAT(hosts, Not(HasSubstr("other")));
}

TEST_F(NamesTest, AServiceOfAnotherNameMeansThePodsThatItSelects) {
    NamedPod one = pod("one");
    one.labels = {{"job", "x"}};
    one.hostname = "host-one";
    one.subdomain = "svc";
    names.put(one);
    names.put(service("svc", {{"job", "x"}}));
    const std::string hosts = names.hosts_of_pod("default", "one");
    EXPECT_THAT(hosts, HasSubstr("10.244.0.2\tone one.default"));
    EXPECT_THAT(hosts, HasSubstr(" svc svc.default svc.default.svc svc.default.svc.cluster.local"));
    EXPECT_THAT(hosts, HasSubstr(" host-one.svc.default.svc.cluster.local"));
    EXPECT_THAT(hosts, testing::ContainsRegex(" host-one[ \n]"));
}

TEST_F(NamesTest, AnExpectedNameKeepsItsAddressWhenItComes) {
    names.expect("default", "job-master-0", "job");
    auto early = names.address("default", "job-master-0");
    ASSERT_TRUE(early);
    names.put(pod("job-master-0", "job"));
    EXPECT_EQ(names.address("default", "job-master-0"), early);
}

TEST(ReplicaNames, ByTheirForm) {
    const std::pair<const char*, std::vector<std::string>> cases[] = {
        {"job-master-0", {"job-master-0"}},
        {"job-master-0.ns.svc:1,job-worker-10", {"job-master-0", "job-worker-10"}},
        {R"(["job-worker-1:2222","job-worker-1:1"])", {"job-worker-1"}},
        {"other-master-0", {}},
        {"job-name", {}},
        {"job", {}},
        {"", {}}};
    for (const auto& [text, expected] : cases)
        EXPECT_EQ(replica_names_in(text, "job"), expected) << text;
}

TEST(ReplaceNames, OnlyWholeNames) {
    const std::map<std::string, std::string, std::less<>> known = {{"a", "1.1.1.1"},
                                                                   {"a.ns", "1.1.1.1"}};
    const std::pair<const char*, const char*> cases[] = {{"a", "1.1.1.1"},
                                                         {"a:80", "1.1.1.1:80"},
                                                         {"tcp://a/x", "tcp://1.1.1.1/x"},
                                                         {"aa", "aa"},
                                                         {"b-a", "b-a"},
                                                         {"a.ns:1,a", "1.1.1.1:1,1.1.1.1"},
                                                         {"a.other", "a.other"},
                                                         {"", ""},
                                                         {"[\"a\"]", "[\"1.1.1.1\"]"}};
    for (const auto& [text, expected] : cases)
        EXPECT_EQ(replace_names(text, known), expected) << text;
}

TEST_F(NamesTest, ThePodsOfAJobShareAFileUnlessOneHasNamesOfItsOwn) {
    names = NameTable(kFirst, kFirst + 9);
    names.put(NamedPod{"default", "a-0", "", "", "job-a", {{"index", "0"}}, {}});
    names.put(NamedPod{"default", "a-1", "", "", "job-a", {{"index", "1"}}, {}});
    names.put(NamedPod{"default", "b-0", "other", "", "job-b", {}, {}});
    names.put(NamedService{"default", "zero", "job-a", {{"index", "0"}}});
    EXPECT_FALSE(names.has_own_names("default", "a-0"));
    EXPECT_TRUE(names.has_own_names("default", "b-0"));
    const std::string shared = names.hosts_of_owner("default", "job-a");
    EXPECT_THAT(shared, testing::HasSubstr("a-0 a-0.default"));
    EXPECT_THAT(shared, testing::HasSubstr("zero zero.default"));
    EXPECT_THAT(shared, testing::Not(testing::HasSubstr("b-0")));
    EXPECT_THAT(names.hosts_of_pod("default", "b-0"), testing::HasSubstr("other"));
    // What a service selects follows its pods.
    names.put(NamedPod{"default", "a-0", "", "", "job-a", {{"index", "7"}}, {}});
    names.put(NamedPod{"default", "a-1", "", "", "job-a", {{"index", "0"}}, {}});
    const std::string address =
        "10.244.0." + std::to_string(*names.address("default", "a-1") - 0x0AF40000);
    EXPECT_THAT(names.hosts_of_owner("default", "job-a"),
                testing::ContainsRegex(address + "[^\n]* zero "));
    names.remove_pod("default", "a-1");
    EXPECT_THAT(names.hosts_of_owner("default", "job-a"), testing::Not(testing::HasSubstr("a-1")));
}

}  // namespace
}  // namespace muster::runtime::names_test
