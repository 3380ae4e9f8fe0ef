#include "runtime/internal/files/volumes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <fstream>
#include <sstream>

#include "kube/objects/codec_impl.h"
#include "runtime/internal/files/volume_files.h"

namespace muster::runtime::volumes_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class VolumesTest : public ::testing::Test {
  protected:
    VolumesTest() {
        std::string pattern = "/tmp/muster-volumes-XXXXXX";
        directory = ::mkdtemp(pattern.data());
        pod.metadata.name = "p";
        pod.metadata.labels = {{"b", "two"}, {"a", "say \"1\"\n"}};
        pod.spec.containers.resize(1);
        pod.spec.containers[0].name = "main";
        pod.spec.containers[0].resources.limits = {{"cpu", "1500m"}};
    }
    ~VolumesTest() override { fs::remove_all(directory); }

    EnvironmentInput input() const {
        return {.pod = pod,
                .config_maps = config_maps,
                .secrets = secrets,
                .base = {},
                .hostname = "p",
                .pod_ip = "10.0.0.1",
                .host_ip = "127.0.0.1",
                .node_name = "n",
                .node_cpu = {},
                .node_memory = {},
                .addresses = {}};
    }
    static kube::Volume volume(const char* text) {
        return *kube::decode<kube::Volume>(json::parse(text));
    }
    static std::string content(const fs::path& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    static mode_t mode_of(const fs::path& path) {
        struct stat info{};
        return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777u : 0;
    }

    fs::path directory;
    kube::Pod pod;
    KeyValueObjects config_maps{{"cm", {{"x", "1"}, {"y", "2"}}}};
    KeyValueObjects secrets{{"s", {{"t", "hidden"}}}};
};

TEST_F(VolumesTest, TheFilesOfEachKind) {
    struct Case {
        const char* volume;
        VolumeFiles expected;
    };
    const Case cases[] = {
        {R"({"configMap":{"name":"cm","defaultMode":256}})",
         {{"x", {"1", 0400}}, {"y", {"2", 0400}}}},
        {R"({"configMap":{"name":"cm","items":[{"key":"x","path":"d/x","mode":384}]}})",
         {{"d/x", {"1", 0600}}}},
        {R"({"configMap":{"name":"none","optional":true}})", {}},
        {R"({"secret":{"secretName":"s"}})", {{"t", {"hidden", 0644}}}},
        {R"({"downwardAPI":{"items":[
            {"path":"labels","fieldRef":{"fieldPath":"metadata.labels"}},
            {"path":"b","fieldRef":{"fieldPath":"metadata.labels['b']"},"mode":256},
            {"path":"cpu","resourceFieldRef":{"containerName":"main","resource":"limits.cpu"}}]}})",
         {{"labels", {"a=\"say \\\"1\\\"\\n\"\nb=\"two\"", 0644}},
          {"b", {"two", 0400}},
          {"cpu", {"2", 0644}}}},
        {R"({"projected":{"defaultMode":288,"sources":[
            {"configMap":{"name":"cm"}},
            {"secret":{"name":"s","items":[{"key":"t","path":"x"}]}},
            {"secret":{"name":"none","optional":true}},
            {"downwardAPI":{"items":[{"path":"name","fieldRef":{"fieldPath":"metadata.name"}}]}}]}})",
         {{"x", {"hidden", 0440}}, {"y", {"2", 0440}}, {"name", {"p", 0440}}}},
    };
    for (const Case& c : cases) {
        const auto files = files_of_volume(volume(c.volume), input());
        ASSERT_TRUE(files) << c.volume << files.error().message();
        ASSERT_TRUE(*files) << c.volume;
        EXPECT_EQ(**files, c.expected) << c.volume;
    }
    EXPECT_EQ(*files_of_volume(volume(R"({"emptyDir":{}})"), input()), std::nullopt);
}

TEST_F(VolumesTest, WhatCantBeGivenIsRefusedByName) {
    struct Case {
        const char* volume;
        const char* message;
    };
    const Case cases[] = {
        {R"({"configMap":{"name":"none"}})", "configmap \"none\" not found"},
        {R"({"secret":{"secretName":"s","items":[{"key":"u","path":"u"}]}})",
         "references non-existent secret key: u"},
        {R"({"configMap":{"name":"cm","items":[{"key":"x","path":"../x"}]}})", "../x"},
        {R"({"projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}})",
         "serviceAccountToken"},
        {R"({"projected":{"sources":[{"configMap":{"name":"none"}}]}})", "\"none\" not found"},
        {R"({"downwardAPI":{"items":[{"path":"ip","fieldRef":{"fieldPath":"status.podIP"}}]}})",
         "unsupported fieldPath"},
        {R"({"downwardAPI":{"items":[{"path":"/ip"}]}})", "leaves the volume"},
        {R"({"downwardAPI":{"items":[{"path":"cpu","resourceFieldRef":{"resource":"limits.cpu"}}]}})",
         "container  not found"},
        {R"({"nfs":{"server":"s","path":"/"}})", "source nfs"},
    };
    for (const Case& c : cases) {
        pod.spec.volumes = {volume(c.volume)};
        pod.spec.volumes[0].name = "v";
        fs::remove_all(directory / "v");
        const auto ready = prepare_volumes(input(), directory, {});
        ASSERT_FALSE(ready) << c.volume;
        EXPECT_THAT(ready.error().message(), HasSubstr(c.message));
        EXPECT_THAT(ready.error().message(), HasSubstr("volume v: "));
    }
}

TEST_F(VolumesTest, ReferencesOfAllKinds) {
    pod.spec.volumes = {volume(R"({"configMap":{"name":"a"}})"),
                        volume(R"({"secret":{"secretName":"b"}})"),
                        volume(R"({"projected":{"sources":[{"secret":{"name":"c"}},
                                   {"configMap":{"name":"d"}},{"downwardAPI":{"items":[]}},7]}})")};
    const References references = references_of_volumes(pod);
    EXPECT_THAT(references.config_maps, ElementsAre("a", "d"));
    EXPECT_THAT(references.secrets, ElementsAre("b", "c"));
}

TEST_F(VolumesTest, TheFsGroupOwnsWhatIsThePodsAndNothingElse) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives files to any group";
    fs::create_directory(directory / "host");
    const mode_t before = mode_of(directory / "host");
    pod.spec.volumes = {volume(R"({"name":"d","emptyDir":{}})"),
                        volume(R"({"name":"m","emptyDir":{"medium":"Memory","sizeLimit":"1Mi"}})"),
                        volume(R"({"name":"c","secret":{"secretName":"s","defaultMode":256}})")};
    pod.spec.volumes.push_back(volume(R"({"name":"h"})"));
    pod.spec.volumes.back().host_path.emplace().path = directory / "host";
    const auto ready = prepare_volumes(input(), directory, {.tmpfs = true, .fs_group = 4711});
    ASSERT_TRUE(ready) << ready.error().message();
    EXPECT_EQ(mode_of(directory / "d"), 02777u);
    EXPECT_EQ(mode_of(directory / "c/t"), 0440u);
    EXPECT_EQ(mode_of(directory / "c/..data/"), 02755u);
    struct stat info{};
    ASSERT_EQ(::stat((directory / "c/t").c_str(), &info), 0);
    EXPECT_EQ(info.st_gid, 4711u);
    EXPECT_EQ(content(directory / "c/t"), "hidden");
    ASSERT_EQ(ready->pod_mounts.size(), 1u);
    EXPECT_EQ(ready->pod_mounts[0].options, "mode=02777,gid=4711,size=1048576");
    EXPECT_EQ(mode_of(directory / "host"), before);
}

TEST_F(VolumesTest, ATokenIsForThoseWhoRunInThePod) {
    pod.spec.volumes = {volume(
        R"({"name":"v","projected":{"sources":[
           {"serviceAccountToken":{"path":"token"}},
           {"serviceAccountToken":{"path":"a/vault","audience":"vault","expirationSeconds":700}}]}})")};
    EXPECT_TRUE(has_tokens(pod.spec.volumes[0]));
    EXPECT_THAT(*tokens_wanted(pod), ElementsAre(TokenWanted{"", 3600}, TokenWanted{"vault", 700}));
    VolumeOptions options;
    options.tokens.texts = {{{"", 3600}, "one"}, {{"vault", 700}, "two"}};
    ASSERT_TRUE(prepare_volumes(input(), directory, options));
    EXPECT_EQ(content(directory / "v/token"), "one");
    EXPECT_EQ(content(directory / "v/a/vault"), "two");
    EXPECT_EQ(mode_of(directory / "v/token"), 0644u) << "containers may run as several users";
    options.tokens.user = ::geteuid();
    ASSERT_TRUE(rewrite_volumes(input(), directory, options, has_tokens));
    EXPECT_EQ(mode_of(directory / "v/token"), 0600u);
    if (::geteuid() != 0) return;
    options.tokens.user = 4711;
    options.tokens.group = true;
    options.fs_group = 4712;
    ASSERT_TRUE(rewrite_volumes(input(), directory, options, has_tokens));
    struct stat info{};
    ASSERT_EQ(::stat((directory / "v/token").c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, 4711u);
    EXPECT_EQ(info.st_gid, 4712u);
    EXPECT_EQ(mode_of(directory / "v/token"), 0640u);
}

TEST_F(VolumesTest, ANewTokenTakesThePlaceOfTheOldOneAtOnce) {
    pod.spec.volumes = {
        volume(
            R"({"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}})"),
        volume(R"({"name":"m","configMap":{"name":"cm"}})")};
    VolumeOptions options;
    options.tokens.texts = {{{"", 3600}, "one"}};
    ASSERT_TRUE(prepare_volumes(input(), directory, options));
    const fs::path first = fs::canonical(directory / "v/token");
    const fs::path map = fs::canonical(directory / "m/..data");
    options.tokens.texts = {{{"", 3600}, "two"}};
    ASSERT_TRUE(rewrite_volumes(input(), directory, options, has_tokens));
    EXPECT_EQ(content(directory / "v/token"), "two");
    EXPECT_NE(fs::canonical(directory / "v/token"), first) << "the link was changed, not the file";
    EXPECT_FALSE(fs::exists(first)) << "what was there before is gone";
    EXPECT_EQ(fs::canonical(directory / "m/..data"), map) << "other volumes are left alone";
    options.tokens.texts = {{{"", 3600}, "three"}};
    ASSERT_TRUE(rewrite_volumes(input(), directory, options, has_tokens));
    EXPECT_EQ(content(directory / "v/token"), "three");
}

TEST_F(VolumesTest, SubPaths) {
    ReadyVolumes volumes;
    volumes.by_name["v"] = {.path = "/volume", .owned = true};
    struct Case {
        const char* mount;
        const char* sub_path;  ///< or of a refusal
        bool refused = false;
    };
    const Case cases[] = {
        {R"j({})j", ""},
        {R"j({"subPath":"a/b"})j", "a/b"},
        {R"j({"subPath":"./a//b/"})j", "a/b"},
        {R"j({"subPath":"."})j", ""},
        {R"j({"subPathExpr":"$(NAME)/$(NAME)-x"})j", "rank-1/rank-1-x"},
        {R"j({"subPathExpr":"$$(NAME)"})j", "$(NAME)"},
        {R"j({"subPathExpr":"$(NONE)"})j", "missing value for \"NONE\"", true},
        {R"j({"subPathExpr":"$(UP)"})j", "without '..'", true},
        {R"j({"subPath":"/etc"})j", "relative path", true},
        {R"j({"subPath":"a/../../b"})j", "without '..'", true},
    };
    for (const Case& c : cases) {
        kube::Container container;
        container.volume_mounts = {*kube::decode<kube::VolumeMount>(json::parse(c.mount))};
        container.volume_mounts[0].name = "v";
        container.volume_mounts[0].mount_path = "data/";
        const auto mounts =
            container_mounts(container, {"NAMES=no", "NAME=rank-1", "UP=../.."}, volumes);
        ASSERT_EQ(!mounts, c.refused) << c.mount;
        if (c.refused) {
            EXPECT_THAT(mounts.error().message(), HasSubstr(c.sub_path));
            continue;
        }
        EXPECT_EQ((*mounts)[0].sub_path, c.sub_path) << c.mount;
        EXPECT_EQ((*mounts)[0].target, "/data");
        EXPECT_EQ((*mounts)[0].source, "/volume");
    }
}

TEST_F(VolumesTest, AClaimIsItsDirectory) {
    pod.spec.volumes = {
        volume(R"({"name":"data","persistentVolumeClaim":{"claimName":"c"}})"),
        volume(R"({"name":"read","persistentVolumeClaim":{"claimName":"c","readOnly":true}})"),
        volume(R"({"name":"own","ephemeral":{"volumeClaimTemplate":{"spec":{}}}})")};
    const fs::path place = directory / "volumes" / "default" / "c";
    VolumeOptions options;
    options.claims = {{"data", {.path = place, .made = true}},
                      {"own", {.path = directory / "made", .made = true}},
                      {"read", {.path = place, .made = true, .read_only = true}}};
    const auto ready = prepare_volumes(input(), directory, options);
    ASSERT_TRUE(ready) << ready.error().message();
    EXPECT_EQ(ready->by_name.at("data").path, place);
    EXPECT_FALSE(ready->by_name.at("data").read_only);
    EXPECT_TRUE(ready->by_name.at("read").read_only);
    EXPECT_EQ(mode_of(place), 0777u);
    EXPECT_EQ(ready->by_name.at("own").path, directory / "made");
    EXPECT_TRUE(fs::is_directory(directory / "made"));
    // What is there stays as it is, and what a flag names has to be there.
    fs::permissions(place, fs::perms::owner_all);
    ASSERT_TRUE(prepare_volumes(input(), directory, options));
    EXPECT_EQ(mode_of(place), 0700u);
    options.claims["data"] = {.path = directory / "absent"};
    const auto absent = prepare_volumes(input(), directory, options);
    ASSERT_FALSE(absent);
    EXPECT_THAT(absent.error().message(), HasSubstr("absent of its claim does not exist"));
}

}  // namespace
}  // namespace muster::runtime::volumes_test
