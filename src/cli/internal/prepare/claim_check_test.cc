#include "cli/internal/prepare/claim_check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "manifest/job_lines_fixture.h"

namespace muster::cli::claim_check_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSize = "resources: {requests: {storage: 10Gi}}";

class ClaimCheckTest : public testing::Test {
  protected:
    /// A job whose pod has the claim `data` twice, and other objects.
    ClaimPlan plan(const std::string& more, const std::map<std::string, std::string>& places = {}) {
        const std::string old = "            resources: {requests: {cpu: 1}}";
        std::string text = manifest::job_with(
            {{old, old + "\n          volumes: [{name: d, persistentVolumeClaim: {claimName: "
                         "data}}, {name: e, persistentVolumeClaim: {claimName: data}}]"}});
        manifest::Manifest manifest = manifest::read_manifest(text + "\n" + more, "j.yaml");
        EXPECT_THAT(manifest.problems, IsEmpty());
        manifest::CheckResult checked =
            manifest::check_documents(std::move(manifest.documents), {});
        EXPECT_THAT(checked.problems, IsEmpty());
        return plan_claims(checked.objects, places);
    }
    static std::string claim(const std::string& spec) {
        return fmt::format(
            "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: data}}\n"
            "spec: {{{}, {}}}\n",
            kSize, spec);
    }
    static std::string volume(const std::string& spec) {
        return fmt::format(
            "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: pv}}\n"
            "spec: {{accessModes: [ReadWriteMany], capacity: {{storage: 10Gi}}, {}}}\n",
            spec);
    }
    static std::vector<std::string> lines(const ClaimPlan& plan) {
        std::vector<std::string> all;
        for (const manifest::Problem& problem : plan.problems) all.push_back(format(problem));
        return all;
    }
};

TEST_F(ClaimCheckTest, WhatTheManifestDoesNotHaveIsMade) {
    const ClaimPlan missing = plan("");
    EXPECT_THAT(lines(missing), IsEmpty());
    ASSERT_EQ(missing.missing.size(), 1u);
    EXPECT_EQ(missing.missing[0].name, "data");
    EXPECT_EQ(missing.missing[0].namespace_, "default");
    EXPECT_THAT(missing.notices,
                ElementsAre(HasSubstr("--volume data=DIR gives it one that stays")));

    const ClaimPlan there = plan(claim("accessModes: [ReadWriteOnce]"), {{"data", "/mnt/d"}});
    EXPECT_THAT(lines(there), IsEmpty());
    EXPECT_THAT(there.missing, IsEmpty());
    EXPECT_THAT(there.notices, ElementsAre("the claim \"data\" (10Gi, which nothing enforces, "
                                           "ReadWriteOnce) is /mnt/d"));
}

TEST_F(ClaimCheckTest, WhatNoDirectoryCanStandFor) {
    const struct {
        std::string more;
        const char* wanted;
    } kCases[] = {
        {claim("accessModes: [ReadWriteMany], volumeMode: Block"), "spec.volumeMode: "},
        {claim("accessModes: [ReadWriteMany], storageClassName: ''"), "spec.storageClassName: "},
        {claim("accessModes: [ReadWriteMany], volumeName: other"),
         "spec.volumeName: nothing makes the PersistentVolume \"other\""},
        {claim("accessModes: [ReadWriteMany], volumeName: pv") +
             volume("nfs: {server: far, path: /}"),
         "spec: the PersistentVolume \"pv\" that it would get is of a type that this machine does "
         "not mount; name its directory with --volume data=DIR"},
    };
    for (const auto& [more, wanted] : kCases)
        EXPECT_THAT(lines(plan(more)), ElementsAre(HasSubstr(wanted))) << more;
    EXPECT_THAT(lines(plan(kCases[1].more, {{"default/data", "/mnt/d"}})), IsEmpty());
    EXPECT_THAT(lines(plan(kCases[3].more, {{"data", "/mnt/d"}})), IsEmpty());
}

TEST_F(ClaimCheckTest, AVolumeOfTheManifestSaysWhere) {
    const ClaimPlan planned = plan(claim("accessModes: [ReadWriteMany], storageClassName: ''") +
                                   volume("hostPath: {path: /data}"));
    EXPECT_THAT(lines(planned), IsEmpty());
    EXPECT_THAT(planned.notices,
                ElementsAre("the claim \"data\" is /data, as PersistentVolume \"pv\" says"));
}

TEST_F(ClaimCheckTest, OnePodAlone) {
    const std::string alone = claim("accessModes: [ReadWriteOncePod]");
    const std::string pod =
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: "
        "x, command: [train]}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}\n";
    EXPECT_THAT(lines(plan(alone)), IsEmpty());
    EXPECT_THAT(
        lines(plan(alone + pod)),
        ElementsAre(HasSubstr(".volumes[0].persistentVolumeClaim.claimName: the claim \"data\" is "
                              "ReadWriteOncePod and 2 pods use it")));
}

TEST_F(ClaimCheckTest, APlaceForWhatNoPodUses) {
    EXPECT_THAT(lines(plan(claim("accessModes: [ReadWriteMany]"), {{"dta", "/d"}})),
                ElementsAre("--volume dta=/d: error: no pod of the manifest uses this claim; they "
                            "use data"));
}

}  // namespace
}  // namespace muster::cli::claim_check_test
