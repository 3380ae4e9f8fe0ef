#include "master_process/credentials.h"

#include <gtest/gtest.h>

#include "base/time/real_clock.h"

namespace muster::master_process::credentials_test {
namespace {

std::string token(const std::vector<std::string>& environment) {
    Arguments arguments;
    arguments.job = "digits";
    const RealClock clock;
    const auto read = Credentials::read(arguments, environment, clock);
    return read ? read->token : "!" + read.error().message();
}

TEST(MasterCredentials, WithoutATokenTheNameOfTheJobKeepsOutOtherJobs) {
    EXPECT_EQ(token({"MUSTER_TOKEN=secret"}), "secret");
    // As an agent has it whose ELASTIC_JOB_NAME this is (muster_run/hosting/credentials.cc).
    EXPECT_EQ(token({"A=b"}), "run digits");
    EXPECT_EQ(token({}), "run digits");
}

}  // namespace
}  // namespace muster::master_process::credentials_test
