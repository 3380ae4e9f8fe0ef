#include "cli/internal/envtest/assets.h"

#include <gmock/gmock.h>

#include <fstream>

namespace muster::cli::assets_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
namespace fs = std::filesystem;

class EnvtestAssets : public ::testing::Test {
  protected:
    EnvtestAssets() {
        std::string name = (fs::temp_directory_path() / "muster-assets.XXXXXX").string();
        root_ = ::mkdtemp(name.data());
        folder_ = root_ / "a" / "assets";
        fs::create_directory(root_ / "bin");
        program("muster");
    }
    ~EnvtestAssets() override { fs::remove_all(root_); }

    fs::path program(const std::string& name) {
        std::ofstream(root_ / "bin" / name) << "#!/bin/sh\n";
        fs::permissions(root_ / "bin" / name, fs::perms::owner_all);
        return root_ / "bin" / name;
    }
    Result<std::vector<std::string>> make(const std::string& name = "muster") {
        return make_envtest_assets(folder_, root_ / "bin" / name,
                                   ":/nowhere:" + (root_ / "bin").string());
    }
    std::vector<std::string> there() {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_))
            names.push_back(entry.path().filename());
        return names;
    }

    fs::path root_, folder_;
};

TEST_F(EnvtestAssets, AreLinks) {
    const fs::path kubectl = program("kubectl");
    const auto notices = make();
    ASSERT_TRUE(notices.has_value()) << notices.error().message();
    EXPECT_THAT(*notices, IsEmpty());
    EXPECT_THAT(there(), UnorderedElementsAre("etcd", "kube-apiserver", "kubectl"));
    EXPECT_EQ(fs::read_symlink(folder_ / "etcd"), root_ / "bin" / "muster");
    EXPECT_EQ(fs::read_symlink(folder_ / "kube-apiserver"), root_ / "bin" / "muster");
    EXPECT_EQ(fs::read_symlink(folder_ / "kubectl"), kubectl);
}

TEST_F(EnvtestAssets, AMissingKubectlIsSaid) {
    const auto notices = make();
    ASSERT_TRUE(notices.has_value());
    EXPECT_THAT(*notices, ElementsAre(HasSubstr("there is no kubectl in PATH")));
    EXPECT_THAT(there(), UnorderedElementsAre("etcd", "kube-apiserver"));
}

TEST_F(EnvtestAssets, CanBeMadeAgainFromAProgramElsewhere) {
    ASSERT_TRUE(make().has_value());
    fs::create_directory(root_ / "bin" / "new");
    program("new/muster");
    ASSERT_TRUE(make("new/muster").has_value());
    EXPECT_EQ(fs::read_symlink(folder_ / "etcd"), root_ / "bin" / "new" / "muster");
    EXPECT_THAT(there(), UnorderedElementsAre("etcd", "kube-apiserver"));
}

TEST_F(EnvtestAssets, TheProgramsOfOthersStay) {
    fs::create_directories(folder_);
    std::ofstream(folder_ / "kube-apiserver") << "theirs";
    std::ofstream(folder_ / "kubectl") << "theirs";
    const auto made = make();
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().code(), Code::kAlreadyExists);
    EXPECT_THAT(made.error().message(), HasSubstr((folder_ / "kube-apiserver").string()));
    EXPECT_THAT(there(), UnorderedElementsAre("kube-apiserver", "kubectl"));
    fs::remove(folder_ / "kube-apiserver");
    ASSERT_TRUE(make().has_value());
    EXPECT_FALSE(fs::is_symlink(folder_ / "kubectl"));
}

TEST(EnvtestPrograms, AreMeantByTheirNames) {
    EXPECT_EQ(envtest_program("/a/etcd"), EnvtestProgram::kEtcd);
    EXPECT_EQ(envtest_program("kube-apiserver"), EnvtestProgram::kKubeApiserver);
    for (const char* path : {"", "muster", "/etcd/muster", "/a/etcd/", "kubectl", "etcd2"})
        EXPECT_EQ(envtest_program(path), EnvtestProgram::kNone) << path;
}

}  // namespace
}  // namespace muster::cli::assets_test
