#include "jobs/gang.h"
#include "jobs/internal/test_kinds.h"

namespace muster::jobs::elastic_pending_test {
namespace {

using namespace std::chrono_literals;
using Demand = PendingPolicy::Demand;

const JobKind& kind() { return *find_kind("elastic.iml.github.io/v1alpha1", "ElasticJob"); }

Job job_on(const Platform& platform, const Shape& shape) {
    return load(kind(), manifest_of(kind(), shape), platform).value();
}
Platform on_cluster() {
    Platform platform;
    platform.cluster = true;
    platform.program_image = "muster:1";
    return platform;
}
PendingPolicy policy_of(const Shape& shape) {
    return kind().pending_policy(job_on(on_cluster(), shape));
}
Edit annotations(const std::string& written) { return {"metadata/annotations", written}; }
Edit command(const std::string& written) {
    return {"spec/replicaSpecs/worker/template/spec/containers/0/command", written};
}

TEST(ElasticPending, TheAnnotationsSayWhatMustBePlacedAndUntilWhen) {
    struct Row {
        std::string annotations;
        Demand demand;
        std::chrono::seconds timeout;
    };
    for (const Row& row : std::vector<Row>{
             {"{}", Demand::kNecessary, 900s},
             {R"({"pending_timeout": "60"})", Demand::kNecessary, 60s},
             {R"({"pending_timeout": "0"})", Demand::kNecessary, 0s},
             {R"({"pending_timeout": "-1"})", Demand::kNecessary, 900s},
             {R"({"pending_timeout": "soon"})", Demand::kNecessary, 900s},
             {R"({"pending_timeout": "9223372036854775807"})", Demand::kNecessary, 1'000'000'000s},
             {R"({"pending_fail_strategy": "-1"})", Demand::kNothing, 900s},
             {R"({"pending_fail_strategy": "0"})", Demand::kNothing, 900s},
             {R"({"pending_fail_strategy": "2", "pending_timeout": "7"})", Demand::kAll, 7s},
             {R"({"pending_fail_strategy": "3"})", Demand::kNecessary, 900s}}) {
        SCOPED_TRACE(row.annotations);
        const PendingPolicy policy = policy_of({{{"worker", 1}}, {annotations(row.annotations)}});
        EXPECT_EQ(policy.demand, row.demand);
        EXPECT_EQ(policy.timeout, row.timeout);
    }
}

TEST(ElasticPending, ALauncherSaysHowManyNodesAreNecessary) {
    struct Row {
        std::string command;
        std::int32_t necessary;
        std::optional<std::int32_t> begins_with;
        std::chrono::seconds too_few;
    };
    for (const Row& row : std::vector<Row>{
             {R"(["bash", "-c", "dlrover-run --nnodes=3:$NODE_NUM a.py"])", 3, 3, 900s},
             {R"(["dlrover-run", "--nnodes=2:4", "--rdzv-conf", "join_timeout=1000", "a.py"])", 2,
              2, 1500s},
             {R"(["dlrover-run", "--nnodes=2:4", "--rdzv-conf", "join_timeout=1", "a.py"])", 2, 2,
              600s},
             {R"(["dlrover-run", "--nnodes=2:4", "--rdzv-conf", "join_timeout=86400", "a.py"])", 2,
              2, 3600s},
             {R"(["sh", "-c", "dlrover-run --nnodes=$NODE_NUM a.py"])", 4, std::nullopt, 900s},
             {R"(["dlrover-run", "--nnodes=9", "a.py"])", 4, std::nullopt, 900s},
             // It is not known: the job has begun with what there is.
             {R"(["bash", "start.sh"])", 1, std::nullopt, 0s},
             {R"(["dlrover-run", "a.py"])", 1, std::nullopt, 0s}}) {
        SCOPED_TRACE(row.command);
        const Shape shape{{{"worker", 4}}, {command(row.command)}};
        const PendingPolicy policy = policy_of(shape);
        EXPECT_EQ(policy.needs.at(3), (PendingPolicy::Need{.necessary = row.necessary, .all = 4}));
        EXPECT_EQ(policy.needs.at(0), PendingPolicy::Need{})
            << "the master waits as long as it takes";
        EXPECT_EQ(policy.begins_with, row.begins_with);
        EXPECT_EQ(policy.too_few_timeout, row.too_few);
        // With the master.
        EXPECT_EQ(gang_size(job_on(on_cluster(), shape)), 1 + row.begins_with.value_or(4));
    }
}

TEST(ElasticPending, OfParameterServersWhatIsCriticalIsNecessary) {
    const Edit strategy{"spec/distributionStrategy", R"("ParameterServerStrategy")"};
    const Edit spared{"spec/replicaSpecs/ps/criticalNodes", R"("none")"};
    const Edit all{"spec/replicaSpecs/worker/criticalNodes", R"("all")"};
    const auto necessary = [](const Shape& shape) {
        std::vector<std::int32_t> counts;
        for (const PendingPolicy::Need& need : policy_of(shape).needs)
            counts.push_back(need.necessary);
        return counts;
    };
    using testing::ElementsAre;
    // In the order master, ps, chief, worker, evaluator: the chief is the first worker.
    EXPECT_THAT(necessary({{{"ps", 2}, {"worker", 4}, {"evaluator", 1}}, {strategy}}),
                ElementsAre(0, 2, 1, 0, 1));
    EXPECT_THAT(necessary({{{"ps", 2}, {"worker", 4}}, {strategy, spared}}),
                ElementsAre(0, 0, 1, 0, 0));
    EXPECT_THAT(necessary({{{"ps", 2}, {"worker", 4}}, {strategy, all}}),
                ElementsAre(0, 2, 1, 3, 0));
    EXPECT_EQ(policy_of({{{"ps", 2}, {"worker", 4}}, {strategy}}).too_few_timeout, 0s);
}

TEST(ElasticPending, LowPriorityBesideHighIsNotAmongAll) {
    for (const auto& [priority, all] : std::vector<std::pair<std::string, std::int32_t>>{
             {"", 4}, {"high", 4}, {"low", 4}, {"0.5", 2}, {"1", 4}, {"0.01", 4}}) {
        SCOPED_TRACE(priority);
        const PendingPolicy policy = policy_of(
            {{{"worker", 4}}, {{"spec/replicaSpecs/worker/priority", '"' + priority + '"'}}});
        EXPECT_EQ(policy.needs.at(3).all, all);
    }
}

TEST(ElasticPending, WhereASchedulerPlacesPodsTogetherTheyWaitForEachOther) {
    const auto together = [](const Platform& platform, const Shape& shape) {
        return kind().pending_policy(job_on(platform, shape)).together;
    };
    const auto scheduler = [](const std::string& name) {
        return Edit{"spec/replicaSpecs/worker/template/spec/schedulerName", '"' + name + '"'};
    };
    EXPECT_FALSE(together(on_cluster(), {{{"worker", 2}}}));
    EXPECT_FALSE(together(on_cluster(), {{{"worker", 2}}, {scheduler("default-scheduler")}}));
    EXPECT_TRUE(together(on_cluster(), {{{"worker", 2}}, {scheduler("koord-scheduler")}}));
    EXPECT_TRUE(
        together(on_cluster(),
                 {{{"worker", 2}}, {{"spec/replicaSpecs/worker/BatchScheduler", R"("volcano")"}}}));
    Platform gangs = on_cluster();
    gangs.gang_scheduler = "scheduler-plugins-scheduler";
    EXPECT_TRUE(together(gangs, {{{"worker", 2}}}));
    EXPECT_TRUE(together({}, {{{"worker", 1}}})) << "one machine starts it with its master";
    EXPECT_FALSE(together({}, {{{"worker", 1}}, {{"spec/distributionStrategy", R"("Local")"}}}));
}

}  // namespace
}  // namespace muster::jobs::elastic_pending_test
