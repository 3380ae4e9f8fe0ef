#include "base/test_inputs.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>

#include "base/test_seeds.h"

namespace muster::test_inputs_test {
namespace {

namespace fs = std::filesystem;
using ::testing::StartsWith;

class TestInputs : public ::testing::Test {
  protected:
    TestInputs() {
        std::string name = ::testing::TempDir() + "muster-inputs-XXXXXX";
        folder_ = ::mkdtemp(name.data());
        if (const char* const set = std::getenv("MUSTER_TEST_INPUTS")) before_ = set;
        ::setenv("MUSTER_TEST_INPUTS", folder_.c_str(), 1);
    }
    ~TestInputs() override {
        if (before_.empty())
            ::unsetenv("MUSTER_TEST_INPUTS");
        else
            ::setenv("MUSTER_TEST_INPUTS", before_.c_str(), 1);
        fs::remove_all(folder_);
    }
    /// What is noted of this program.
    std::string noted() const {
        std::string all;
        for (const auto& entry : fs::directory_iterator(folder_)) {
            EXPECT_THAT(entry.path().filename().string(), StartsWith("base_test"));
            std::ifstream file(entry.path());
            all.append(std::istreambuf_iterator<char>(file), {});
        }
        return all;
    }

  private:
    std::string before_;
    fs::path folder_;
};

TEST_F(TestInputs, AFileIsFoundAndNoted) {
    EXPECT_TRUE(fs::exists(source_path("src/base/test_inputs.h")));
    (void)source_path("docs/flags.md");
    EXPECT_EQ(noted(), "file src/base/test_inputs.h\nfile docs/flags.md\n");
}

TEST_F(TestInputs, SeedsAreNoted) {
    (void)seeds_of_this_run(100, 10);
    EXPECT_THAT(noted(), StartsWith("seeds "));
}

TEST_F(TestInputs, NothingIsNotedWhereNobodyAsks) {
    ::unsetenv("MUSTER_TEST_INPUTS");
    EXPECT_TRUE(fs::exists(source_path("README.md")));
    EXPECT_EQ(noted(), "");
}

}  // namespace
}  // namespace muster::test_inputs_test
