#include "cli/internal/objects/replica_words.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

namespace muster::cli::replica_words_test {
namespace {

using ::testing::HasSubstr;

TEST(ReplicaWords, ANumberOrThoseOfTypes) {
    EXPECT_EQ(parse_replica_words({"4"}).value(), (std::vector<ReplicaWord>{{"", 4}}));
    EXPECT_EQ(parse_replica_words({"Worker=0", "PS=2"}).value(),
              (std::vector<ReplicaWord>{{"Worker", 0}, {"PS", 2}}));
    for (const char* word :
         {"", "x", "-1", "Worker=", "=4", "Worker=-1", "Worker=4=4", "2147483648"})
        EXPECT_THAT(parse_replica_words({word}).error().message(), HasSubstr("wants a number"))
            << word;
    EXPECT_THAT(parse_replica_words({}).error().message(), HasSubstr("say how many"));
    EXPECT_THAT(parse_replica_words({"4", "Worker=2"}).error().message(), HasSubstr("given once"));
}

TEST(ReplicaWords, ThePatchOfAJob) {
    const json::object job =
        json::parse(R"({"metadata":{"name":"a"},"spec":{"tfReplicaSpecs":{"PS":{},"Worker":{}}}})")
            .get_object();
    EXPECT_EQ(replica_patch(job, "tfReplicaSpecs", {{"worker", 4}}).value(),
              json::parse(R"({"spec":{"tfReplicaSpecs":{"Worker":{"replicas":4}}}})"));
    EXPECT_EQ(replica_patch(job, "tfReplicaSpecs", {{"Chief", 1}}).error().message(),
              "a has no replicas of type Chief; it has: PS, Worker");
    EXPECT_THAT(replica_patch({}, "x", {{"Chief", 1}}).error().message(), HasSubstr("it has: "));
}

}  // namespace
}  // namespace muster::cli::replica_words_test
