#include "muster_run/hosting/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/log.h"
#include "base/time/sim_clock.h"
#include "base/unique_fd.h"

namespace muster::run::credentials_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Texts that stand in this process's standard input, while it lives.
class Input {
  public:
    explicit Input(const std::string& text) : before_(::dup(STDIN_FILENO)) {
        int ends[2] = {};
        EXPECT_EQ(::pipe(ends), 0);
        EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
        ::close(ends[1]);
        ::dup2(ends[0], STDIN_FILENO);
        ::close(ends[0]);
    }
    ~Input() { ::dup2(before_.get(), STDIN_FILENO); }
    static std::string rest() {
        std::string text(100, '\0');
        text.resize(static_cast<std::size_t>(::read(STDIN_FILENO, text.data(), text.size())));
        return text;
    }

  private:
    UniqueFd before_;
};

class CredentialsTest : public ::testing::Test {
  protected:
    CredentialsTest() {
        log::set_sink([this](log::Level level, std::string_view line) {
            if (level == log::Level::kWarning) warnings.emplace_back(line);
        });
    }
    ~CredentialsTest() override { log::set_sink({}); }

    static launch::LaunchPlan plan_of(int nodes) {
        return {.rendezvous = {.where = nodes > 1 ? launch::Rendezvous::Where::kEndpoints
                                                  : launch::Rendezvous::Where::kHere},
                .nodes = {nodes, nodes},
                .run_id = "mine"};
    }
    std::string token(const launch::LaunchPlan& plan, const launch::Variables& variables = {}) {
        const auto read = Credentials::read(plan, variables, clock);
        return read ? read->token : read.error().message();
    }

    SimClock clock;
    std::vector<std::string> warnings;
};

TEST_F(CredentialsTest, OfSeveralNodesWithoutASecretAreWarnedOf) {
    EXPECT_EQ(token(plan_of(1)), "run mine");
    EXPECT_THAT(warnings, IsEmpty());
    EXPECT_EQ(token(plan_of(2)), "run mine");
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("this job has no token")));
}

// Its master has the name of the job, and not what a command calls its run.
TEST_F(CredentialsTest, WithoutASecretNodesOfAMasterOfTheJobKnowItsName) {
    launch::LaunchPlan plan = plan_of(2);
    plan.rendezvous = {.where = launch::Rendezvous::Where::kElsewhere, .job = "theirs"};
    EXPECT_EQ(token(plan), "run theirs");
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("this job has no token")));
    EXPECT_EQ(token(plan, {{"MUSTER_TOKEN", "secret"}}), "secret");
}

TEST_F(CredentialsTest, AnOpenStoreIsWarnedOf) {
    launch::LaunchPlan plan = plan_of(1);
    for (const char* loopback : {"127.0.0.1", "::1"}) {
        plan.local_addr = loopback;
        EXPECT_EQ(token(plan), "run mine");
    }
    EXPECT_THAT(warnings, IsEmpty());
    plan.local_addr = "10.0.0.7";
    EXPECT_EQ(token(plan), "run mine");
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("--local-addr 10.0.0.7 opens the workers' store")));
    warnings.clear();
    EXPECT_EQ(token(plan, {{"MUSTER_TOKEN", "secret"}}), "secret");
    EXPECT_THAT(warnings, SizeIs(1)) << "torch's clients have no token";
}

TEST_F(CredentialsTest, ATokenComesByFileVariableOrStandardInput) {
    const std::string file = ::testing::TempDir() + "muster-token-" + std::to_string(::getpid());
    std::ofstream(file) << "of the file\n";
    launch::LaunchPlan plan = plan_of(2);
    const launch::Variables variables{{"MUSTER_TOKEN", "of the variable"}, {"A", "b"}};
    EXPECT_EQ(token(plan, variables), "of the variable");
    EXPECT_EQ(token(plan, {{"MUSTER_TOKEN", ""}}), "MUSTER_TOKEN: there is nothing in it");
    plan.token_file = file;
    EXPECT_EQ(token(plan, variables), "of the file") << "a flag goes first";
    plan.token_file = "-";
    {
        const Input input("pasted\r\nfor the workers");
        EXPECT_EQ(token(plan), "pasted");
        EXPECT_EQ(Input::rest(), "for the workers");
    }
    {
        const Input input("");
        EXPECT_EQ(token(plan), "--token-file -: there is nothing in it");
    }
    {
        const Input input(std::string(5000, 'x'));
        EXPECT_THAT(token(plan), HasSubstr("more than 4096 bytes"));
    }
    EXPECT_THAT(warnings, IsEmpty());
    EXPECT_THAT(without_token(variables), ElementsAre(launch::Variables::value_type("A", "b")));
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace muster::run::credentials_test
