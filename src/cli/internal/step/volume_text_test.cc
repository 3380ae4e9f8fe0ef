#include "cli/internal/step/volume_text.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace muster::cli::volume_text_test {
namespace {

using testing::HasSubstr;

/// Without the shared memory that each has.
std::string plan_of(std::string_view text) {
    const Result<VolumePlan> plan = read_volume_text(text, {.user = "ann", .time_zone = {}});
    if (!plan) return plan.error().message();
    json::array volumes = plan->volumes;
    json::array mounts = plan->mounts;
    EXPECT_EQ(mounts.back().at("mountPath"), json::value("/dev/shm"));
    volumes.pop_back();
    mounts.pop_back();
    return json::serialize(volumes) + " " + json::serialize(mounts);
}

std::string compact(std::string_view volumes, std::string_view mounts) {
    return json::serialize(json::parse(volumes)) + " " + json::serialize(json::parse(mounts));
}

TEST(VolumeText, WhatEachKindIs) {
    struct Case {
        const char* text;
        const char* volumes;
        const char* mounts;
    };
    const Case cases[] = {
        {"", "[]", "[]"},
        {"kubeflow-user-workspace(pvc):/mnt",
         R"([{"persistentVolumeClaim":{"claimName":"kubeflow-user-workspace"},
              "name":"kubeflow-user-workspace"}])",
         R"([{"name":"kubeflow-user-workspace","mountPath":"/mnt/ann","subPath":"ann"}])"},
        {"a(pvc-share):/x;b(storage):/y/",
         R"([{"persistentVolumeClaim":{"claimName":"a"},"name":"a"},
             {"persistentVolumeClaim":{"claimName":"b"},"name":"b"}])",
         R"([{"name":"a","mountPath":"/x"},{"name":"b","mountPath":"/y"}])"},
        {"10.0.0.1/data/x(nfs):/d",
         R"([{"nfs":{"server":"10.0.0.1","path":"/data/x"},"name":"10-0-0-1-data-x"}])",
         R"([{"name":"10-0-0-1-data-x","mountPath":"/d"}])"},
        {"/data/K8s_x(hostpath):/h", R"([{"hostPath":{"path":"/data/K8s_x"},"name":"data-k8s-x"}])",
         R"([{"name":"data-k8s-x","mountPath":"/h"}])"},
        {"c(configmap):/c, s(secret):/s",
         R"([{"configMap":{"name":"c"},"name":"c"},{"secret":{"secretName":"s"},"name":"s"}])",
         R"([{"name":"c","mountPath":"/c"},{"name":"s","mountPath":"/s"}])"},
        {"4G(memory):/fast", R"([{"emptyDir":{"medium":"Memory","sizeLimit":"4Gi"},"name":"4g"}])",
         R"([{"name":"4g","mountPath":"/fast"}])"},
        // The same twice counts once, and one volume may be mounted twice.
        {"a(storage):/x,a(storage):/x,a(storage):/y",
         R"([{"persistentVolumeClaim":{"claimName":"a"},"name":"a"}])",
         R"([{"name":"a","mountPath":"/x"},{"name":"a","mountPath":"/y"}])"},
        // Sources whose names look alike are volumes of their own.
        {"/a/b(hostpath):/x;/a-b(hostpath):/y",
         R"([{"hostPath":{"path":"/a/b"},"name":"a-b"},{"hostPath":{"path":"/a-b"},"name":"a-b-1"}])",
         R"([{"name":"a-b","mountPath":"/x"},{"name":"a-b-1","mountPath":"/y"}])"},
    };
    for (const Case& one : cases)
        EXPECT_EQ(plan_of(one.text), compact(one.volumes, one.mounts)) << one.text;
}

TEST(VolumeText, SharedMemoryAndTheTimeOfTheNodeAreAddedUnlessTheyAreThere) {
    const VolumeSettings settings{.user = "ann", .time_zone = "Asia/Shanghai"};
    const Result<VolumePlan> plan = read_volume_text("a(storage):/x", settings);
    ASSERT_TRUE(plan);
    EXPECT_EQ(json::serialize(plan->mounts),
              R"([{"name":"a","mountPath":"/x"},{"name":"tz-config","mountPath":"/etc/localtime"},)"
              R"({"name":"dshm","mountPath":"/dev/shm"}])");
    const Result<VolumePlan> own =
        read_volume_text("/zone(hostpath):/etc/localtime;8G(memory):/dev/shm", settings);
    ASSERT_TRUE(own);
    EXPECT_EQ(own->mounts.size(), 2u);
    EXPECT_EQ(read_volume_text("", settings)->mounts.size(), 1u);
}

TEST(VolumeText, EachThingThatIsWrongIsNamed) {
    struct Case {
        const char* text;
        const char* message;
    };
    const Case cases[] = {
        {"data:/mnt", "\"data:/mnt\" does not say its kind"},
        {"data(pvc)", "\"data(pvc)\" has no path"},
        {"data(pvc):mnt", "needs an absolute path"},
        {"data(pvc):/a/../b", "needs an absolute path"},
        {"(pvc):/mnt", "has no source"},
        {"data(disk):/mnt", "has the unknown kind \"disk\": it must be pvc,"},
        {"Data_1(pvc):/mnt", "\"Data_1\" can't be a name"},
        {"x(hostpath):/mnt", "needs an absolute path of the node"},
        {"10.0.0.1(nfs):/mnt", "needs a server and a path"},
        {"much(memory):/dev/shm", "needs a size in GiB"},
        {"a(storage):/x;b(storage):/x", "is mounted at /x, where another entry already is"},
        {"a:/x;b:/y",
         "\"a:/x\" does not say its kind: write source(kind):path, as in "
         "data(pvc):/mnt; \"b:/y\" does not say"},
    };
    for (const Case& one : cases)
        EXPECT_THAT(plan_of(one.text), HasSubstr(one.message)) << one.text;
    for (const char* user : {"", "..", "a/b"})
        EXPECT_THAT(
            read_volume_text("a(pvc):/mnt", {.user = user, .time_zone = {}}).error().message(),
            HasSubstr("KFJ_CREATOR"));
}

}  // namespace
}  // namespace muster::cli::volume_text_test
