#include "cli/internal/pods/pod_words.h"

#include <gmock/gmock.h>

namespace muster::cli::pod_words_test {
namespace {

ResourceCatalog catalog() {
    std::vector<ApiResource> all(2);
    all[0].type = {"", "v1", "pods", "Pod", true};
    all[0].singular = "pod";
    all[0].short_names = {"po"};
    all[0].categories = {"all"};
    all[1].type = {"kubeflow.org", "v1", "pytorchjobs", "PyTorchJob", true};
    all[1].singular = "pytorchjob";
    all[1].categories = {"all"};
    return ResourceCatalog(std::move(all));
}

TEST(PodWords, MeanAPodAJobOrAReplica) {
    const ResourceCatalog known = catalog();
    const ApiResource* const pods = &known.all()[0];
    const ApiResource* const jobs = &known.all()[1];
    EXPECT_EQ(parse_pod_words("digits", known).value(), (PodWords{nullptr, "digits", ""}));
    EXPECT_EQ(parse_pod_words("pod/web", known).value(), (PodWords{pods, "web", ""}));
    EXPECT_EQ(parse_pod_words("po/web", known).value(), (PodWords{pods, "web", ""}));
    EXPECT_EQ(parse_pod_words("digits/worker-1", known).value(),
              (PodWords{nullptr, "digits", "worker-1"}));
    EXPECT_EQ(parse_pod_words("pytorchjob/digits/master", known).value(),
              (PodWords{jobs, "digits", "master"}));
}

TEST(PodWords, OthersAreRefused) {
    const ResourceCatalog known = catalog();
    for (const char* text : {"", "/", "a/", "/a", "a//b", "pod/a/b/c"})
        EXPECT_THAT(parse_pod_words(text, known).error().message(),
                    testing::HasSubstr("write POD, JOB, JOB/REPLICA"))
            << text;
    EXPECT_THAT(parse_pod_words("pytorchjbo/digits/master", known).error().message(),
                testing::HasSubstr("did you mean pytorchjob?"));
    EXPECT_THAT(parse_pod_words("all/digits/master", known).error().message(),
                testing::HasSubstr("several kinds"));
}

}  // namespace
}  // namespace muster::cli::pod_words_test
