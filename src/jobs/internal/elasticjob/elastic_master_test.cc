#include "jobs/internal/elasticjob/elastic_master.h"

#include <gmock/gmock.h>

#include <set>

namespace muster::jobs {
namespace {

using testing::ElementsAre;

Job job() {
    Job made;
    made.metadata.name = "llama";
    made.metadata.namespace_ = "team-a";
    return made;
}

const OwnedObject& of_kind(const std::vector<OwnedObject>& objects, std::string_view kind) {
    for (const OwnedObject& one : objects)
        if (one.type.kind == kind) return one;
    throw std::logic_error("there is no such object");
}

TEST(ElasticMaster, HasFourObjectsOfOneName) {
    std::vector<std::string> kinds;
    for (const OwnedObject& one : elastic_master_objects(job())) {
        EXPECT_EQ(one.name, "elasticjob-llama-dlrover-master");
        kinds.push_back(one.type.kind);
    }
    EXPECT_THAT(kinds, ElementsAre("ServiceAccount", "Role", "RoleBinding", "ConfigMap"));
    std::vector<std::string> types;
    for (const kube::ResourceType& type : elastic_master_types()) types.push_back(type.kind);
    EXPECT_EQ(types, kinds);
}

TEST(ElasticMaster, MayReadAndWriteTwoObjectsByNameAndNothingElse) {
    const OwnedObject role = of_kind(elastic_master_objects(job()), "Role");
    EXPECT_EQ(json::serialize(role.content.at("rules")),
              R"([{"apiGroups":[""],"resources":["configmaps"],)"
              R"("resourceNames":["elasticjob-llama-dlrover-master"],)"
              R"("verbs":["get","watch","update"]},)"
              R"({"apiGroups":["elastic.iml.github.io"],"resources":["scaleplans"],)"
              R"("resourceNames":["llama-plan"],"verbs":["get","watch","update"]}])");
    EXPECT_THAT(role.kept, ElementsAre("rules")) << "nobody widens it";
    const OwnedObject binding = of_kind(elastic_master_objects(job()), "RoleBinding");
    EXPECT_EQ(json::serialize(binding.content),
              R"({"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role",)"
              R"("name":"elasticjob-llama-dlrover-master"},"subjects":[{"kind":"ServiceAccount",)"
              R"("name":"elasticjob-llama-dlrover-master","namespace":"team-a"}]})");
}

TEST(ElasticMaster, ItsRecordIsMadeEmptyAndLeftAlone) {
    const OwnedObject record = of_kind(elastic_master_objects(job()), "ConfigMap");
    EXPECT_TRUE(record.content.empty());
    EXPECT_TRUE(record.kept.empty());
    EXPECT_TRUE(record.made_once.empty());
    EXPECT_FALSE(record.before_pods_only) << "one that was deleted comes back";
}

TEST(ElasticMaster, IsCalledWithTheNameOfItsRecord) {
    EXPECT_THAT(elastic_master_words(job(), 50001),
                ElementsAre("master", "--job", "llama", "--namespace", "team-a", "--record-object",
                            "elasticjob-llama-dlrover-master", "--port", "50001"));
}

}  // namespace
}  // namespace muster::jobs
