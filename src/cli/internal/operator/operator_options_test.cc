#include "cli/internal/operator/operator_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/internal/command_line/command_line.h"
#include "cli/internal/flags/known_verbs.h"
#include "cli/internal/operator/operator_config.h"

namespace muster::cli::operator_options_test {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

OperatorOptions parse(std::vector<std::string> words) {
    words.insert(words.begin(), "operator");
    const Command command = parse_command_line(words);
    if (const auto* refusal = std::get_if<Print>(&command)) {
        ADD_FAILURE() << refusal->err;
        return {};
    }
    return *options_of<OperatorOptions>(command);
}

std::string error_of(std::vector<std::string> words) {
    words.insert(words.begin(), "operator");
    const Command command = parse_command_line(words);
    const auto* refusal = std::get_if<Print>(&command);
    return refusal == nullptr ? "" : refusal->err;
}

TEST(OperateFlagsTest, Defaults) {
    const OperatorOptions plain = parse({});
    EXPECT_EQ(plain.metrics, (BindAddress{"", 8080}));
    EXPECT_EQ(plain.health, (BindAddress{"", 8081}));
    EXPECT_FALSE(plain.leader_elect);
    EXPECT_THAT(plain.kinds, IsEmpty());
    EXPECT_EQ(plain.limits.per_second, 0);
    EXPECT_EQ(plain.election.lease, seconds(15));
    EXPECT_EQ(plain.log_format, log::Format::kJson);
}

// training-operator v1.9's own, cmd/training-operator.v1/main.go.
TEST(OperateFlagsTest, ThoseOfTrainingOperator) {
    const OperatorOptions options =
        parse({"--enable-scheme=pytorchjob", "--enable-scheme", "TFJob", "--namespace", "ml",
               "--gang-scheduler-name=volcano", "--leader-elect", "--leader-election-id=mine",
               "--metrics-bind-address=127.0.0.1:9090", "--health-probe-bind-address=[::1]:9091",
               "--controller-threads=10", "--kube-api-qps=1000", "--kube-api-burst=2000",
               "--pytorch-init-container-image=alpine:3.10", "--webhook-server-port=9443",
               "--zap-log-level=debug", "--zap-encoder=console", "--zap-devel"});
    EXPECT_THAT(options.kinds, ElementsAre("PyTorchJob", "TFJob"));
    EXPECT_EQ(options.namespace_, "ml");
    EXPECT_EQ(options.gang_scheduler_name, "volcano");
    EXPECT_TRUE(options.leader_elect);
    EXPECT_EQ(options.lease_name, "mine");
    EXPECT_EQ(options.metrics, (BindAddress{"127.0.0.1", 9090}));
    EXPECT_EQ(options.health, (BindAddress{"::1", 9091}));
    EXPECT_EQ(options.controller_threads, 10);
    EXPECT_EQ(options.limits.per_second, 1000);
    EXPECT_EQ(options.limits.burst, 2000);
    EXPECT_EQ(options.log_level, log::Level::kDebug);
    EXPECT_EQ(options.log_format, log::Format::kText);
    EXPECT_THAT(options.ineffective,
                ElementsAre(HasSubstr("--pytorch-init-container-image has no effect"),
                            HasSubstr("--webhook-server-port"), HasSubstr("--zap-devel")));
}

// mpi-operator v0.7's, cmd/mpi-operator/app/options/options.go, as Go writes flags.
TEST(OperateFlagsTest, ThoseOfMpiOperatorWithOneDash) {
    const OperatorOptions options = parse(
        {"-namespace", "ml", "-threadiness", "4", "-monitoring-port", "9000", "-gang-scheduling",
         "volcano", "-lock-namespace=ops", "-kubeConfig", "/k", "-cluster-domain", "example.org",
         "-controller-queue-rate-limit", "10", "-alsologtostderr"});
    EXPECT_EQ(options.namespace_, "ml");
    EXPECT_EQ(options.controller_threads, 4);
    EXPECT_EQ(options.metrics, (BindAddress{"", 9000}));
    EXPECT_EQ(options.gang_scheduler_name, "volcano");
    EXPECT_EQ(options.lease_namespace, "ops");
    EXPECT_EQ(options.kubeconfig, "/k");
    EXPECT_EQ(options.cluster_domain, "example.org");
    EXPECT_EQ(options.ineffective.size(), 2u);
    EXPECT_EQ(parse({"-monitoring-port", "0"}).metrics.port, 0);
}

TEST(OperateFlagsTest, WhatPodsGet) {
    EXPECT_EQ(parse({}).in_pods_image, "");
    EXPECT_FALSE(parse({}).image_volumes);
    const OperatorOptions options = parse({"--in-pods-image", "ours:1", "--image-volumes"});
    EXPECT_EQ(options.in_pods_image, "ours:1");
    EXPECT_TRUE(options.image_volumes);
    EXPECT_FALSE(options.agent_tokens);
    EXPECT_TRUE(parse({"--agent-tokens"}).agent_tokens);
}

TEST(OperateFlagsTest, WhatIsWrong) {
    EXPECT_THAT(error_of({"--enable-scheme", "CronJob"}), HasSubstr("wants a kind of"));
    EXPECT_THAT(error_of({"--controller-threads", "0"}), HasSubstr("above 0"));
    EXPECT_THAT(error_of({"--kube-api-burst", "10"}), HasSubstr("needs --kube-api-qps"));
    EXPECT_THAT(error_of({"--metrics-bind-address", "8080"}), HasSubstr("wants :PORT"));
    EXPECT_THAT(error_of({"--metrics-bind-address", ":8081"}), HasSubstr("both want port 8081"));
    EXPECT_THAT(error_of({"--leader-elect-lease-duration", "5s"}),
                HasSubstr("do not fit together"));
    EXPECT_THAT(error_of({"--leader-elect-lease-duration", "1500ms"}), HasSubstr("whole seconds"));
    EXPECT_THAT(error_of({"--log-format", "xml"}), HasSubstr("json or text"));
    EXPECT_THAT(error_of({"--leader-elekt"}), HasSubstr("did you mean --leader-elect"));
}

TEST(OperateFlagsTest, NowhereIsAnAddress) {
    const OperatorOptions options =
        parse({"--metrics-bind-address=0", "--health-probe-bind-address=0"});
    EXPECT_EQ(options.metrics.port, 0);
    EXPECT_EQ(options.health.port, 0);
}

class OperateConfigTest : public testing::Test {
  protected:
    Result<std::vector<std::string>> flags(const std::string& text) {
        const auto all = known_verbs();
        return flags_of_config("muster.yaml", text,
                               *std::ranges::find(all, "operator", &KnownVerb::name));
    }
};

TEST_F(OperateConfigTest, AFileStandsForFlags) {
    const auto made = flags(
        "leader-elect: true\nenable-scheme: [PyTorchJob, TFJob]\nkube-api-qps: 50\nnamespace: "
        "ml\n");
    ASSERT_TRUE(made.has_value()) << made.error().message();
    EXPECT_THAT(*made, ElementsAre("--leader-elect=true", "--enable-scheme=PyTorchJob",
                                   "--enable-scheme=TFJob", "--kube-api-qps=50", "--namespace=ml"));
    std::vector<std::string> words = *made;
    words.emplace_back("--namespace=other");
    EXPECT_EQ(parse(words).namespace_, "other") << "the command line takes precedence";
    EXPECT_TRUE(parse(words).leader_elect);
    EXPECT_THAT(*flags("# nothing\n"), IsEmpty());
}

TEST_F(OperateConfigTest, WhatIsWrongInAFileSaysWhere) {
    EXPECT_THAT(
        flags("leader-elekt: true\n").error().message(),
        HasSubstr("muster.yaml: leader-elekt is not a flag of 'muster operator'; did you mean "
                  "leader-elect?"));
    EXPECT_THAT(flags("leader-elect: maybe\n").error().message(), HasSubstr("true or false"));
    EXPECT_THAT(flags("- a\n").error().message(), HasSubstr("has to be a map"));
    EXPECT_THAT(flags("namespace: {a: b}\n").error().message(), HasSubstr("wants a string"));
    EXPECT_THAT(flags("config: other.yaml\n").error().message(), HasSubstr("is not a flag"));
    EXPECT_THAT(flags("a: [\n").error().message(), HasSubstr("muster.yaml:"));
}

}  // namespace
}  // namespace muster::cli::operator_options_test
