#include "manifest/internal/review_job.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::manifest::review_job_test {
namespace {

struct Case {
    const char* name;
    const char* metadata;
    const char* expected;  ///< how worker 0 is called in TF_CONFIG
};

class NamesOfAJob : public ::testing::TestWithParam<Case> {};

TEST_P(NamesOfAJob, AreThoseThatTheServerWouldLeadTo) {
    const json::value object =
        json::parse(std::string(R"({"apiVersion": "kubeflow.org/v1",
        "kind": "TFJob", "metadata": )") +
                    GetParam().metadata +
                    R"(, "spec": {"tfReplicaSpecs": {"Worker": {"replicas": 2,
        "template": {"spec": {"containers": [{"name": "tensorflow", "image": "i"}]}}}}}})");
    const jobs::Review review = review_job(*jobs::find_kind("kubeflow.org/v1", "TFJob"), object);
    ASSERT_TRUE(review.problems.empty());
    const auto pod = jobs::build_pod(review.job, {"Worker", 0});
    ASSERT_TRUE(pod);
    std::string config;
    for (const kube::EnvVar& variable : pod->spec.containers[0].env)
        if (variable.name == "TF_CONFIG") config = variable.value;
    EXPECT_NE(config.find(std::string("[\"") + GetParam().expected), config.npos) << config;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, NamesOfAJob,
    ::testing::Values(
        Case{"NoNamespace", R"({"name": "j"})", "j-worker-0.default.svc:2222"},
        Case{"AnEmptyOne", R"({"name": "j", "namespace": ""})", "j-worker-0.default.svc:2222"},
        Case{"OneOfItsOwn", R"({"name": "j", "namespace": "ml"})", "j-worker-0.ml.svc:2222"},
        Case{"ANameMadeByTheServer", R"({"generateName": "j-"})",
             "j-xxxxx-worker-0.default.svc:2222"}),
    [](const auto& info) { return info.param.name; });

TEST(ReviewJob, LeavesWhatIsMalformedToTheReview) {
    for (const char* text :
         {R"({"apiVersion": "kubeflow.org/v1", "kind": "TFJob"})",
          R"({"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": 1})",
          R"({"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"generateName": 7}})"})
        EXPECT_FALSE(review_job(*jobs::find_kind("kubeflow.org/v1", "TFJob"), json::parse(text))
                         .problems.empty())
            << text;
}

}  // namespace
}  // namespace muster::manifest::review_job_test
