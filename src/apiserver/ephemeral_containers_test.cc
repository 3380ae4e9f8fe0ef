#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"

namespace muster::apiserver::ephemeral_containers_test {
namespace {

using ::testing::HasSubstr;

class EphemeralContainersTest : public ServerFixture {
  protected:
    void SetUp() override {
        ASSERT_EQ(post(kPods, pod("p", "", R"(,"nodeName":"n1")")).status, 201);
    }
    kube::Response add(const std::string& containers) {
        return call(kube::Method::kPatch, kPods + "/p/ephemeralcontainers",
                    parse(R"({"spec":{"ephemeralContainers":)" + containers + "}}"), {},
                    kube::ContentType::kStrategicMergePatch);
    }

    const std::string kPods = "/api/v1/namespaces/default/pods";
};

TEST_F(EphemeralContainersTest, AreAddedAndStay) {
    const kube::Response added = add(R"([{"name":"d","image":"i","targetContainerName":"main"}])");
    ASSERT_EQ(added.status, 200) << text(added);
    EXPECT_EQ(at(added, "spec.ephemeralContainers").at(0).at("imagePullPolicy"), "Always");
    EXPECT_EQ(add(R"([{"name":"e","image":"i"}])").status, 200);
    EXPECT_EQ(
        at(get(kPods + "/p/ephemeralcontainers"), "spec.ephemeralContainers").as_array().size(),
        2u);
    EXPECT_THAT(message(add(R"([{"name":"d","image":"j"}])")),
                HasSubstr(R"(existing ephemeral containers "d" may not be changed)"));
    EXPECT_THAT(message(add("null")),
                HasSubstr(R"(existing ephemeral containers "d" may not be removed)"));
}

TEST_F(EphemeralContainersTest, NothingElseIsWritten) {
    const kube::Response written =
        merge_patch(kPods + "/p/ephemeralcontainers",
                    R"({"metadata":{"labels":{"a":"b"}},"spec":{"activeDeadlineSeconds":7,
                  "ephemeralContainers":[{"name":"d","image":"i"}]}})");
    ASSERT_EQ(written.status, 200) << text(written);
    EXPECT_EQ(at(written, "metadata.labels"), json::value());
    EXPECT_EQ(at(written, "spec.activeDeadlineSeconds"), json::value());
}

TEST_F(EphemeralContainersTest, AWrongPodOfEarlierTimesCanBeLookedInto) {
    // Its stored parts are not checked again.
    EXPECT_EQ(add(R"([{"name":"d","image":"i","ports":[{"containerPort":1}]}])").status, 422);
    EXPECT_EQ(add(R"([{"name":"main","image":"i"}])").status, 422);
    EXPECT_EQ(add(R"([{"name":"d","image":"i","targetContainerName":"x"}])").status, 422);
    EXPECT_EQ(add("[7]").status, 400);
    EXPECT_EQ(at(get(kPods + "/p"), "spec.ephemeralContainers"), json::value());
}

TEST_F(EphemeralContainersTest, ThoseOfStaticPodsAreRefused) {
    merge_patch(kPods + "/p",
                R"({"metadata":{"annotations":{"kubernetes.io/config.mirror":"x"}}})");
    EXPECT_EQ(
        message(add(R"([{"name":"d","image":"i"}])")),
        "Pod \"p\" is invalid: []: Forbidden: static pods do not support ephemeral containers");
}

}  // namespace
}  // namespace muster::apiserver::ephemeral_containers_test
