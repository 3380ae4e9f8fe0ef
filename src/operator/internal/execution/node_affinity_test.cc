#include "operator/internal/execution/node_affinity.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace muster::operators::node_affinity_test {
namespace {

/// What becomes of such an affinity ("": none is written) when n1 and n2 are left out.
std::string affinity_after(std::string_view written) {
    kube::PodSpec pod;
    if (!written.empty()) pod.rest["affinity"] = json::parse(written);
    keep_from_nodes(pod, {"n1", "n2"});
    return json::serialize(pod.rest.at("affinity"));
}

std::string required(const std::string& terms) {
    return R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
           R"({"nodeSelectorTerms":)" +
           terms + "}}}";
}

const std::string kElsewhere =
    R"({"key":"kubernetes.io/hostname","operator":"NotIn","values":["n1","n2"]})";
const std::string kFast = R"({"key":"disk","operator":"In","values":["fast"]})";

TEST(NodeAffinity, IsMergedWithThatOfTheTemplate) {
    struct Row {
        std::string name;
        std::string written;
        std::string after;
    };
    for (
        const Row& row : std::vector<Row>{
            {"none", "", required(R"([{"matchExpressions":[)" + kElsewhere + "]}]")},
            {"no alternatives", required("[]"),
             required(R"([{"matchExpressions":[)" + kElsewhere + "]}]")},
            {"one alternative", required(R"([{"matchExpressions":[)" + kFast + "]}]"),
             required(R"([{"matchExpressions":[)" + kFast + "," + kElsewhere + "]}]")},
            {"each of several",
             required(R"([{"matchExpressions":[)" + kFast + R"(]},{"matchExpressions":[)" + kFast +
                      "]}]"),
             required(R"([{"matchExpressions":[)" + kFast + "," + kElsewhere +
                      R"(]},{"matchExpressions":[)" + kFast + "," + kElsewhere + "]}]")},
            {"by a field", required(R"([{"matchFields":[1]}])"),
             required(R"([{"matchFields":[1],"matchExpressions":[)" + kElsewhere + "]}]")},
            {"one that matches nothing", required("[{}]"), required("[{}]")},
            {"what is only preferred stays",
             R"({"nodeAffinity":{"preferred":[1]},"podAffinity":{"a":1}})",
             R"({"nodeAffinity":{"preferred":[1],"requiredDuringSchedulingIgnoredDuringExecution":)"
             R"({"nodeSelectorTerms":[{"matchExpressions":[)" +
                 kElsewhere + R"(]}]}},"podAffinity":{"a":1}})"},
            {"of another form", R"({"nodeAffinity":[3]})", R"({"nodeAffinity":[3]})"},
            {"alternatives of another form", required("3"), required("3")},
            {"an alternative of another form", required("[3]"), required("[3]")},
        })
        EXPECT_EQ(affinity_after(row.written), row.after) << row.name;
}

TEST(NodeAffinity, WithoutNodesNothingChanges) {
    kube::PodSpec pod;
    keep_from_nodes(pod, {});
    EXPECT_TRUE(pod.rest.empty());
}

}  // namespace
}  // namespace muster::operators::node_affinity_test
