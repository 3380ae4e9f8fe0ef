#include "apiserver/internal/controllers/pod_gc_controller.h"

#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"
#include "base/async/task_fault.h"
#include "kube/values/time.h"

namespace muster::apiserver::pod_gc_controller_test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kPod = "/api/v1/namespaces/default/pods/p";
constexpr const char* kNodes = "/api/v1/nodes";

TEST(MayGoWithoutItsNode, AtTheEndOfItsGrace) {
    const char* deleting = R"("deletionTimestamp":"2023-11-14T22:13:50Z",
                              "deletionGracePeriodSeconds":30)";
    const struct {
        const char* what;
        const char* metadata;
        const char* spec;
        bool node_exists;
        const char* when;  ///< "": never
    } kCases[] = {
        {"its node is missing", deleting, R"("nodeName":"n")", false, "2023-11-14T22:13:50Z"},
        {"its node is there", deleting, R"("nodeName":"n")", true, ""},
        {"it has no node", deleting, "", false, ""},
        {"nobody deletes it", R"("name":"p")", R"("nodeName":"n")", false, ""},
        {"its finalizers alone hold it",
         R"("deletionTimestamp":"2023-11-14T22:13:50Z","deletionGracePeriodSeconds":0)",
         R"("nodeName":"n")", false, ""},
    };
    for (const auto& [what, metadata, spec, node_exists, when] : kCases) {
        const json::value pod =
            json::parse(fmt::format(R"({{"metadata":{{{}}},"spec":{{{}}}}})", metadata, spec));
        const auto found = may_go_without_its_node(pod.get_object(), node_exists);
        EXPECT_EQ(found ? kube::format_time(*found) : "", when) << what;
    }
}

class PodGCControllerTest : public ServerFixture {
  protected:
    PodGCControllerTest() {
        EXPECT_EQ(post(kNodes, R"({"metadata":{"name":"other"}})").status, 201);
    }

    void create_pod(std::string_view node, std::string_view more_metadata = "") {
        const kube::Response made =
            post(kPods, pod("p", more_metadata, fmt::format(R"(,"nodeName":"{}")", node)));
        ASSERT_EQ(made.status, 201) << text(made);
    }
    bool is_there_after(Duration time) {
        advance(time);
        return get(kPod).status == 200;
    }
};

TEST_F(PodGCControllerTest, APodOfNoNodeGoesAtTheEndOfItsGrace) {
    create_pod("none");
    EXPECT_EQ(remove(kPod).status, 200);
    EXPECT_TRUE(is_there_after(29s)) << "a node that comes back may still end it";
    EXPECT_FALSE(is_there_after(1s));
}

TEST_F(PodGCControllerTest, APodOfNoNodeGoesAfterAFaultToo) {
    create_pod("none");
    {
        const TaskFault fault("pod collector, later");
        remove(kPod);
        settle();
        EXPECT_EQ(fault.hits(), 1u);
    }
    EXPECT_TRUE(is_there_after(29s));
    EXPECT_FALSE(is_there_after(1s));
}

TEST_F(PodGCControllerTest, AShorterGraceCounts) {
    create_pod("none");
    remove(kPod);
    EXPECT_TRUE(is_there_after(5s));
    remove(kPod, R"({"gracePeriodSeconds":10})");
    EXPECT_TRUE(is_there_after(4s));
    EXPECT_FALSE(is_there_after(1s));
}

TEST_F(PodGCControllerTest, APodOfANodeIsThatNodesAffair) {
    create_pod("other");
    remove(kPod);
    EXPECT_TRUE(is_there_after(1h));
}

TEST_F(PodGCControllerTest, APodThatNobodyDeletesStays) {
    create_pod("none");
    EXPECT_TRUE(is_there_after(1h));
}

TEST_F(PodGCControllerTest, APodWhoseNodeGoesMeanwhileIsRemoved) {
    post(kNodes, R"({"metadata":{"name":"passing"}})");
    create_pod("passing");
    remove(kPod);
    EXPECT_TRUE(is_there_after(1h));
    remove("/api/v1/nodes/passing");
    EXPECT_FALSE(is_there_after(0s));
}

TEST_F(PodGCControllerTest, APodWhoseNodeComesInTimeIsLeftToIt) {
    create_pod("late");
    remove(kPod);
    EXPECT_TRUE(is_there_after(5s));
    post(kNodes, R"({"metadata":{"name":"late"}})");
    EXPECT_TRUE(is_there_after(1h));
}

TEST_F(PodGCControllerTest, WithoutAnyNodeNothingIsKnownOfThem) {
    remove("/api/v1/nodes/other");
    create_pod("none");
    remove(kPod);
    EXPECT_TRUE(is_there_after(1h));
}

TEST_F(PodGCControllerTest, FinalizersHoldItStill) {
    create_pod("none", R"(,"finalizers":["a.b/c"])");
    remove(kPod);
    EXPECT_TRUE(is_there_after(1h));
    EXPECT_EQ(at(get(kPod), "metadata.deletionGracePeriodSeconds"), 0);
    merge_patch(kPod, R"({"metadata":{"finalizers":null}})");
    EXPECT_FALSE(is_there_after(0s));
}

}  // namespace
}  // namespace muster::apiserver::pod_gc_controller_test
