#include "runtime/internal/pod/container_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "runtime/internal/files/pod_files.h"

namespace muster::runtime::container_plan_test {
namespace {

namespace fs = std::filesystem;

pod_init::MountSpec at(std::string target) {
    pod_init::MountSpec mount;
    mount.target = std::move(target);
    return mount;
}

class HiddenByTmp : public ::testing::Test {
  protected:
    HiddenByTmp() {
        std::string pattern = "/tmp/muster-plan-XXXXXX";
        directory_ = ::mkdtemp(pattern.data());
        for (const char* name : {"data", "data-2"}) {
            fs::create_directory(directory_ / name);
            std::ofstream(directory_ / name / "train.py");
        }
    }
    ~HiddenByTmp() override { fs::remove_all(directory_); }

    std::string path(const char* below) const { return directory_ / below; }

    fs::path directory_;
};

TEST_F(HiddenByTmp, IsAFileThatIsThereAndThatNoMountShows) {
    const std::string script = path("data/train.py");
    const struct {
        const char* what;
        std::vector<std::string> argv;
        std::vector<pod_init::MountSpec> mounts;
        std::string hidden;  ///< "": none
    } kCases[] = {
        {"the pod's own /tmp hides it", {"python3", script}, {at("/tmp")}, script},
        {"the machine's /tmp is shared", {"python3", script}, {}, ""},
        {"another mount hides nothing", {script}, {at("/data")}, ""},
        {"its directory is mounted", {script}, {at("/tmp"), at(path("data"))}, ""},
        {"it is mounted itself", {script}, {at("/tmp"), at(script)}, ""},
        {"a directory whose name begins alike is mounted",
         {path("data-2/train.py")},
         {at("/tmp"), at(path("data"))},
         path("data-2/train.py")},
        {"it is not on the machine", {path("data/none.py")}, {at("/tmp")}, ""},
        {"it is not a path", {"tmp/train.py", "--out=/tmp"}, {at("/tmp")}, ""},
        {"/tmp itself is there", {"ls", "/tmp"}, {at("/tmp")}, ""},
        {"the first one is named", {script, path("data-2")}, {at("/tmp")}, script},
    };
    for (const auto& row : kCases) {
        pod_init::ContainerStart start;
        start.argv = row.argv;
        start.mounts = row.mounts;
        EXPECT_EQ(hidden_by_tmp(start).value_or(""), row.hidden) << row.what;
    }
}

TEST(StartFailure, ShowsTheBeginningOfALongPath) {
    const auto told = [](const std::string& path) {
        pod_init::ContainerStart start;
        start.argv = {"train"};
        start.environment = {"PATH=" + path};
        return describe_start_failure({pod_init::StartStage::kProgramMissing, 0, {}}, start);
    };
    EXPECT_THAT(told("/a:/b:/c"), testing::HasSubstr("PATH (/a:/b:/c)."));
    EXPECT_THAT(told("/a:/b:/c:/d:/e"), testing::HasSubstr("PATH (/a:/b:/c and 2 more)."));
}

TEST(Hostname, IsThePodsAndNoLongerThanTheKernelTakes) {
    const std::string long_name = std::string(62, 'a') + "-worker-0";
    const struct {
        std::string name;
        std::string hostname;
        std::string expected;
    } kCases[] = {
        {"demo-worker-0", "", "demo-worker-0"},
        {"demo-worker-0", "given", "given"},
        {long_name, "", std::string(62, 'a')},
        {std::string(61, 'a') + ".-b", "", std::string(61, 'a')},
    };
    for (const auto& row : kCases) {
        kube::Pod pod;
        pod.metadata.name = row.name;
        pod.spec.hostname = row.hostname;
        EXPECT_EQ(hostname_of(pod), row.expected);
    }
}

}  // namespace
}  // namespace muster::runtime::container_plan_test
