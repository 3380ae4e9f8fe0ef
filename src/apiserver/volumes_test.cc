#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"

namespace muster::apiserver::volumes_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kClaims = "/api/v1/namespaces/default/persistentvolumeclaims";
constexpr const char* kVolumes = "/api/v1/persistentvolumes";
constexpr const char* kClasses = "/apis/storage.k8s.io/v1/storageclasses";

class VolumesOfTheApiTest : public ServerFixture {
  protected:
    VolumesOfTheApiTest()
        : ServerFixture({.volumes = {.root = "/state/volumes",
                                     .claims = {{"placed", "/mnt/a"}, {"default/both", "/mnt/b"}},
                                     .discard = [this](const std::string& path) {
                                         discarded.push_back(path);
                                     }}}) {}

    std::vector<std::string> discarded;

    static std::string claim(const std::string& name, const std::string& more = "") {
        return fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{"accessModes":["ReadWriteOnce"],
                "resources":{{"requests":{{"storage":"1Gi"}}}}{}}}}})",
            name, more);
    }
    static std::string volume(const std::string& name, const std::string& size,
                              const std::string& more = "") {
        return fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{"accessModes":["ReadWriteOnce","ReadWriteMany"],
                "capacity":{{"storage":"{}"}},"hostPath":{{"path":"/data"}}{}}}}})",
            name, size, more);
    }
    void make(const char* path, const std::string& body) {
        const kube::Response made = post(path, body);
        ASSERT_EQ(made.status, 201) << text(made);
        EXPECT_THAT(made.warnings, IsEmpty());
        settle();
    }
    json::value read(const std::string& path) { return kube::copy_of(*get(path).body); }
    std::string at(const json::value& object, const std::string& pointer) {
        boost::system::error_code missing;
        const json::value* found = object.find_pointer(pointer, missing);
        if (found == nullptr) return "";
        return found->is_string() ? std::string(found->get_string()) : json::serialize(*found);
    }
    std::string of_claim(const std::string& name, const std::string& pointer) {
        return at(read(fmt::format("{}/{}", kClaims, name)), pointer);
    }
    std::string of_volume(const std::string& name, const std::string& pointer) {
        return at(read(fmt::format("{}/{}", kVolumes, name)), pointer);
    }
};

TEST_F(VolumesOfTheApiTest, AClaimGetsADirectory) {
    make(kClaims, claim("data"));
    EXPECT_EQ(of_claim("data", "/status/phase"), "Bound");
    EXPECT_EQ(of_claim("data", "/status/capacity/storage"), "1Gi");
    EXPECT_EQ(of_claim("data", "/status/accessModes"), R"(["ReadWriteOnce"])");
    EXPECT_EQ(of_claim("data", "/spec/storageClassName"), "directory");
    const std::string volume = of_claim("data", "/spec/volumeName");
    EXPECT_EQ(volume, "pvc-" + of_claim("data", "/metadata/uid"));
    EXPECT_EQ(of_volume(volume, "/spec/hostPath/path"), "/state/volumes/default/data");
    EXPECT_EQ(of_volume(volume, "/status/phase"), "Bound");
    EXPECT_EQ(of_volume(volume, "/spec/claimRef/name"), "data");
}

TEST_F(VolumesOfTheApiTest, OfAnyClass) {
    make(kClaims, claim("fast", R"(,"storageClassName":"fast-ssd")"));
    EXPECT_EQ(of_claim("fast", "/status/phase"), "Bound");
    EXPECT_EQ(of_claim("fast", "/spec/storageClassName"), "fast-ssd");
    // Of none, of one that makes no volumes, and of one that is left to another provisioner.
    make(kClasses,
         R"({"metadata":{"name":"static"},"provisioner":"kubernetes.io/no-provisioner"})");
    make(kClasses, R"({"metadata":{"name":"theirs","annotations":{"muster.dev/provisioner":"off"}},
                       "provisioner":"p"})");
    for (const std::string name : {"", "static", "theirs"}) {
        make(kClaims,
             claim("waits-" + name + "x", fmt::format(R"(,"storageClassName":"{}")", name)));
        EXPECT_EQ(of_claim("waits-" + name + "x", "/status/phase"), "Pending") << name;
    }
}

TEST_F(VolumesOfTheApiTest, AFlagSaysWhere) {
    make(kClaims, claim("placed", R"(,"storageClassName":"")"));
    make(kClaims, claim("both"));
    EXPECT_EQ(of_volume(of_claim("placed", "/spec/volumeName"), "/spec/hostPath/path"), "/mnt/a");
    EXPECT_EQ(of_volume(of_claim("both", "/spec/volumeName"), "/spec/hostPath/path"), "/mnt/b");
}

TEST_F(VolumesOfTheApiTest, AVolumeThatSuitsIsTaken) {
    const std::string no_class = R"(,"storageClassName":"")";
    make(kClaims, claim("late", no_class));
    make(kVolumes, volume("small", "500Mi"));
    make(kVolumes, volume("large", "9Gi", R"(,"claimRef":{"namespace":"default","name":"kept"})"));
    EXPECT_EQ(of_claim("late", "/status/phase"), "Pending");
    EXPECT_EQ(of_volume("small", "/status/phase"), "Available");
    make(kVolumes, volume("fits", "2Gi"));
    EXPECT_EQ(of_claim("late", "/spec/volumeName"), "fits");
    EXPECT_EQ(of_claim("late", "/status/capacity/storage"), "2Gi");
    make(kClaims, claim("kept"));
    EXPECT_EQ(of_claim("kept", "/spec/volumeName"), "large");
    // What is bound is taken, and a claim may name its volume.
    make(kClaims, claim("named", R"(,"volumeName":"small")"));
    EXPECT_EQ(of_claim("named", "/status/phase"), "Bound");
    make(kClaims, claim("another", R"(,"volumeName":"small")"));
    EXPECT_EQ(of_claim("another", "/status/phase"), "Pending");
}

TEST_F(VolumesOfTheApiTest, AClaimThatIsMadeAgainFindsItsDirectory) {
    make(kClaims, claim("data"));
    const std::string volume = of_claim("data", "/spec/volumeName");
    ASSERT_EQ(remove(fmt::format("{}/data", kClaims)).status, 200);
    settle();
    EXPECT_EQ(of_volume(volume, "/status/phase"), "Released");
    make(kClaims, claim("data"));
    EXPECT_EQ(of_claim("data", "/spec/volumeName"), volume);
    EXPECT_EQ(of_volume(volume, "/status/phase"), "Bound");
    EXPECT_EQ(of_volume(volume, "/spec/claimRef/uid"), of_claim("data", "/metadata/uid"));
}

TEST_F(VolumesOfTheApiTest, AClassMayDeleteWhatItsClaimsHad) {
    make(kClasses, R"({"metadata":{"name":"scratch"},"provisioner":"p"})");
    for (const char* name : {"data", "placed"}) {
        make(kClaims, claim(name, R"(,"storageClassName":"scratch")"));
        const std::string volume = of_claim(name, "/spec/volumeName");
        const std::string uid = of_claim(name, "/metadata/uid");
        const bool placed = name == std::string_view("placed");
        EXPECT_EQ(of_volume(volume, "/spec/persistentVolumeReclaimPolicy"),
                  placed ? "Retain" : "Delete");
        remove(fmt::format("{}/{}", kClaims, name));
        settle();
        // What a flag names is the user's.
        EXPECT_EQ(get(fmt::format("{}/{}", kVolumes, volume)).status, placed ? 200 : 404);
        if (!placed)
            EXPECT_THAT(discarded, testing::ElementsAre("/state/volumes/default/data." + uid));
    }
    EXPECT_EQ(discarded.size(), 1u);
    // The class of this server keeps.
    make(kClaims, claim("kept"));
    remove(fmt::format("{}/kept", kClaims));
    settle();
    EXPECT_EQ(discarded.size(), 1u);
}

TEST_F(VolumesOfTheApiTest, AnEphemeralVolumeGoesWithItsPod) {
    const std::string pods = "/api/v1/namespaces/default/pods";
    make(pods.c_str(), R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],
        "volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"metadata":{"labels":{"a":"b"}},
            "spec":{"accessModes":["ReadWriteOnce"],
                    "resources":{"requests":{"storage":"1Gi"}}}}}}]}})");
    settle();
    EXPECT_EQ(of_claim("p-v", "/status/phase"), "Bound");
    EXPECT_EQ(of_claim("p-v", "/metadata/labels/a"), "b");
    EXPECT_EQ(of_claim("p-v", "/metadata/ownerReferences/0/name"), "p");
    const std::string uid = of_claim("p-v", "/metadata/uid");
    // One that is deleted by hand is made again.
    remove(fmt::format("{}/p-v", kClaims));
    settle();
    EXPECT_NE(of_claim("p-v", "/metadata/uid"), uid);
    EXPECT_EQ(discarded.size(), 1u);
    remove(pods + "/p", R"({"gracePeriodSeconds":0})");
    settle();
    EXPECT_EQ(get(fmt::format("{}/p-v", kClaims)).status, 404);
    EXPECT_EQ(discarded.size(), 2u);
}

TEST_F(VolumesOfTheApiTest, AVolumeThatIsGoneIsLost) {
    make(kClaims, claim("data"));
    const std::string volume = of_claim("data", "/spec/volumeName");
    ASSERT_EQ(remove(fmt::format("{}/{}", kVolumes, volume)).status, 200);
    settle();
    EXPECT_EQ(of_claim("data", "/status/phase"), "Bound");
    merge_patch(fmt::format("{}/{}", kVolumes, volume), R"({"metadata":{"finalizers":null}})");
    settle();
    EXPECT_EQ(of_claim("data", "/status/phase"), "Lost");
}

TEST_F(VolumesOfTheApiTest, AClaimInUseStaysUntilItsPodIsGone) {
    make(kClaims, claim("data"));
    EXPECT_EQ(of_claim("data", "/metadata/finalizers"), R"(["kubernetes.io/pvc-protection"])");
    const auto with_claim = [](const std::string& name, const std::string& node) {
        return fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{{}"containers":[
            {{"name":"c","image":"i"}}],"volumes":[
            {{"name":"v","persistentVolumeClaim":{{"claimName":"data"}}}}]}}}})",
                           name, node);
    };
    const std::string pods = "/api/v1/namespaces/default/pods";
    make(pods.c_str(), with_claim("waits", ""));
    make(pods.c_str(), with_claim("runs", R"("nodeName":"n1",)"));
    ASSERT_EQ(remove(fmt::format("{}/data", kClaims)).status, 200);
    settle();
    EXPECT_NE(of_claim("data", "/metadata/deletionTimestamp"), "");
    const std::string volume = of_claim("data", "/spec/volumeName");
    ASSERT_EQ(remove(fmt::format("{}/{}", kVolumes, volume)).status, 200);
    settle();
    EXPECT_EQ(of_volume(volume, "/status/phase"), "Bound");
    remove(pods + "/runs", R"({"gracePeriodSeconds":0})");
    settle();
    EXPECT_EQ(get(fmt::format("{}/data", kClaims)).status, 404);
    EXPECT_EQ(get(fmt::format("{}/{}", kVolumes, volume)).status, 404);
}

TEST_F(VolumesOfTheApiTest, AClaimThatNamesNoClassGetsTheNewestDefault) {
    const kube::Response first = post(kClaims, claim("first"));
    EXPECT_EQ(at(*first.body, "/spec/storageClassName"), "directory");
    advance(std::chrono::seconds(2));
    for (const char* name : {"b", "a"})
        make(kClasses, fmt::format(R"({{"metadata":{{"name":"{}","annotations":{{
            "storageclass.kubernetes.io/is-default-class":"true"}}}},"provisioner":"p"}})",
                                   name));
    EXPECT_EQ(at(*post(kClaims, claim("second")).body, "/spec/storageClassName"), "a");
    EXPECT_EQ(at(*post(kClaims, claim("none", R"(,"storageClassName":"")")).body,
                 "/spec/storageClassName"),
              "");
    remove(fmt::format("{}/a", kClasses));
    EXPECT_EQ(at(*post(kClaims, claim("third")).body, "/spec/storageClassName"), "b");
}

TEST_F(VolumesOfTheApiTest, ADirectoryHasAsMuchAsIsAskedFor) {
    make(kClaims, claim("data"));
    ASSERT_EQ(merge_patch(fmt::format("{}/data", kClaims),
                          R"({"spec":{"resources":{"requests":{"storage":"5Gi"}}}})")
                  .status,
              200);
    settle();
    EXPECT_EQ(of_claim("data", "/status/capacity/storage"), "5Gi");
}

TEST_F(VolumesOfTheApiTest, TheVolumeOfAClaimDoesNotChange) {
    make(kClaims, claim("data"));
    const kube::Response refused =
        merge_patch(fmt::format("{}/data", kClaims), R"({"spec":{"volumeName":"other"}})");
    EXPECT_EQ(refused.status, 422);
    EXPECT_THAT(text(refused), HasSubstr("spec is immutable after creation except "
                                         "resources.requests"));
}

}  // namespace
}  // namespace muster::apiserver::volumes_test
