#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <sstream>

#include "base/parse_number.h"
#include "base/test_inputs.h"
#include "jobs/conversion.h"
#include "jobs/internal/text.h"
#include "jobs/kind.h"
#include "kube/objects/codec.h"

// What one manifest leads to, and what it becomes in another version. A file of golden/ or
// golden_conversions/ holds the manifest and the rest; a change to one is meant, and its diff is
// read. `./dev golden` writes them anew from what a test found, which lies in a folder of the same
// name beside the test's other temporary files. A new file needs no more than its "manifest" (and
// "to", of a conversion; "site", where pods get our program).

namespace muster::jobs::golden_test {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

fs::path folder_of(const std::string& name) { return source_path("src/jobs/" + name); }

json::value read(const fs::path& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return json::parse(text.str());
}

/// `found` gives, from what a file holds, what it should.
void expect_golden(const std::string& folder,
                   const std::function<json::object(const json::object&)>& found) {
    const fs::path actual = fs::path(testing::TempDir()) / folder;
    int files = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_of(folder))) {
        const std::string name = entry.path().filename().string();
        SCOPED_TRACE(name);
        ++files;
        const json::value golden = read(entry.path());
        const json::value now = found(golden.as_object());
        if (json::serialize(now) == json::serialize(golden)) continue;
        fs::create_directories(actual);
        std::ofstream(actual / name) << json::serialize(now) << "\n";
        ADD_FAILURE() << "it is " << actual / name << "; ./dev golden writes it, if it is meant";
    }
    EXPECT_GT(files, 0);
}

std::string version_of(const json::value& manifest) {
    return std::string(manifest.at("apiVersion").as_string());
}
std::string kind_of(const json::value& manifest) {
    return std::string(manifest.at("kind").as_string());
}

/// One that gives nothing, unless the file says otherwise.
Platform platform_of(const json::object& golden) {
    Platform platform;
    if (const json::value* given = golden.if_contains("site")) {
        platform.program_image = given->at("programImage").as_string();
        platform.image_volumes = given->at("imageVolumes").as_bool();
        platform.pods_reach_api = true;
    }
    return platform;
}

/// All pods run, each with an address.
std::vector<SeenPod> all_running(const Job& job) {
    std::vector<SeenPod> seen;
    for (const ReplicaType& type : job.kind->replica_types)
        if (const ReplicaSpec* spec = job.replica(type.name))
            for (std::int32_t i = 0; i < *spec->replicas; ++i)
                seen.push_back({{type.name, i}, "10.0.0." + std::to_string(seen.size() + 1)});
    return seen;
}

json::array objects_of(const Job& job) {
    json::array all;
    if (job.kind->owned_objects)
        for (const OwnedObject& owned_object : job.kind->owned_objects(job, all_running(job)))
            all.push_back(owned_object_manifest(job, owned_object));
    for (const ReplicaType& type : job.kind->replica_types) {
        const ReplicaSpec* spec = job.replica(type.name);
        for (std::int32_t i = 0; spec != nullptr && i < *spec->replicas; ++i) {
            all.push_back(kube::encode(build_pod(job, {type.name, i}).value()));
            if (has_services(job, type.name))
                all.push_back(kube::encode(build_service(job, {type.name, i}).value()));
        }
    }
    return all;
}

/// As it is served; nothing, and a failure, if it can't be loaded.
std::optional<Job> job_of(const json::object& golden) {
    json::value served = golden.at("manifest");
    if (const OldVersion* old = find_old_version(version_of(served), kind_of(served))) {
        const Conversion done = convert(served, old->becomes->resource.api_version());
        EXPECT_THAT(done.problems, IsEmpty());
        served = done.object;
    }
    const JobKind* kind = find_kind(version_of(served), kind_of(served));
    if (kind == nullptr) {
        ADD_FAILURE() << "no such kind";
        return std::nullopt;
    }
    Result<Job> job = load(*kind, served, platform_of(golden));
    if (job) return *std::move(job);
    ADD_FAILURE() << job.error().message();
    return std::nullopt;
}

TEST(Golden, EachManifestLeadsToTheseObjects) {
    expect_golden("golden", [](const json::object& golden) -> json::object {
        const std::optional<Job> job = job_of(golden);
        if (!job) return golden;
        json::object made{{"manifest", golden.at("manifest")}};
        if (const json::value* platform = golden.if_contains("site")) made["site"] = *platform;
        made["objects"] = objects_of(*job);
        return made;
    });
}

// Kueue orders the pods of a pod set by the last of these, and finds them by the other two.
TEST(Golden, ThePodsOfEveryKindHaveTheLabelsByWhichSchedulersOrderThem) {
    constexpr std::int32_t kSeveral = 3;
    const auto label = [](const kube::Pod& pod, std::string_view name) {
        const auto found = pod.metadata.labels.find(std::string(name));
        return found == pod.metadata.labels.end() ? std::string("none") : found->second;
    };
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_of("golden"))) {
        SCOPED_TRACE(entry.path().stem().string());
        const std::optional<Job> job = job_of(read(entry.path()).as_object());
        if (!job) continue;
        for (const ReplicaType& type : job->kind->replica_types) {
            if (job->replica(type.name) == nullptr) continue;
            SCOPED_TRACE(type.name);
            const auto first = parse_number<std::int32_t>(
                label(build_pod(*job, {type.name, 0}).value(), labels::kReplicaIndex));
            // A launcher is alone; what its label is, has a test of its own. It may be the first of
            // the ranks.
            if (type.name != "Launcher")
                EXPECT_TRUE(first == 0 || (first == 1 && job->kind->labels_ranks));
            for (std::int32_t i = 0; i < kSeveral; ++i) {
                const kube::Pod pod = build_pod(*job, {type.name, i}).value();
                EXPECT_EQ(label(pod, labels::kJobName), job->metadata.name);
                EXPECT_EQ(label(pod, labels::kReplicaType), lower_case(type.name));
                if (type.name != "Launcher")
                    EXPECT_EQ(label(pod, labels::kReplicaIndex),
                              std::to_string(first.value_or(0) + i));
            }
        }
    }
}

TEST(Golden, EveryVersionOfEveryKindHasOne) {
    std::set<std::string> seen;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_of("golden"))) {
        const json::value golden = read(entry.path());
        const json::value& manifest = golden.at("manifest");
        const std::string name = entry.path().stem().string();
        EXPECT_TRUE(name.starts_with(lower_case(kind_of(manifest)) + "_")) << name;
        seen.insert(version_of(manifest) + " " + kind_of(manifest));
    }
    std::set<std::string> wanted;
    for (const JobKind* kind : all_kinds())
        wanted.insert(kind->resource.api_version() + " " + kind->resource.kind);
    for (const OldVersion& old : old_versions()) wanted.insert(old.api_version + " " + old.kind);
    EXPECT_EQ(seen, wanted);
}

TEST(GoldenConversion, EachManifestBecomesThis) {
    expect_golden("golden_conversions", [](const json::object& golden) -> json::object {
        const Conversion done = convert(golden.at("manifest"), golden.at("to").as_string());
        EXPECT_THAT(done.problems, IsEmpty());
        json::array changes;
        for (const Cause& change : done.changes)
            changes.emplace_back(change.field + ": " + change.message);
        return {{"manifest", golden.at("manifest")},
                {"to", golden.at("to")},
                {"converted", done.object},
                {"changes", std::move(changes)}};
    });
}

}  // namespace
}  // namespace muster::jobs::golden_test
