#include "cli/internal/script/framework.h"

#include <gmock/gmock.h>

namespace muster::cli::framework_test {
namespace {

using testing::ElementsAre;

TEST(Framework, IsSeenFromWhatIsImported) {
    struct Case {
        std::vector<std::string> modules;
        std::optional<Framework> expected;
    };
    const std::vector<Case> cases = {
        {{"os", "torch"}, Framework::kPyTorch},
        {{"transformers", "datasets"}, Framework::kPyTorch},
        {{"transformers", "tensorflow"}, Framework::kTensorFlow},
        {{"torch", "deepspeed", "mpi4py"}, Framework::kDeepSpeed},
        {{"torch", "horovod"}, Framework::kHorovod},
        {{"torch", "lightning", "tensorflow"}, Framework::kPyTorch},
        {{"mpi4py", "numpy"}, Framework::kMpi},
        {{"jax", "optax"}, Framework::kJax},
        {{"torch", "flax"}, Framework::kJax},
        {{"xgboost", "sklearn"}, Framework::kXgboost},
        {{"paddle"}, Framework::kPaddle},
        {{"mxnet"}, Framework::kMxnet},
        {{"torch", "tensorflow"}, std::nullopt},
        {{"numpy"}, std::nullopt},
        {{}, std::nullopt},
    };
    for (const Case& one : cases)
        EXPECT_EQ(guess_framework(one.modules).framework, one.expected)
            << testing::PrintToString(one.modules);
    EXPECT_THAT(guess_framework({"torch", "tensorflow"}).because,
                ElementsAre("torch", "tensorflow"));
    EXPECT_TRUE(guess_framework({"numpy"}).because.empty());
}

TEST(Framework, NamesThatPeopleWrite) {
    EXPECT_EQ(framework_named("torch"), Framework::kPyTorch);
    EXPECT_EQ(framework_named("tensorflow"), Framework::kTensorFlow);
    EXPECT_EQ(framework_named("spark"), std::nullopt);
    EXPECT_EQ(name_of(Framework::kTensorFlow), "tf");
    EXPECT_EQ(framework_names(),
              "deepspeed, horovod, jax, mpi, mxnet, paddle, pytorch, tf, xgboost");
}

}  // namespace
}  // namespace muster::cli::framework_test
