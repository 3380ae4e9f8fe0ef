#include "operator/internal/cache/owned_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "operator/internal/cache/seen_pods.h"
#include "operator/internal/job_fixture.h"

namespace muster::operators::owned_objects_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

jobs::OwnedObject settings() {
    return {.type = kube::types::kConfigMaps,
            .name = "demo-config",
            .labels = {{"app", "demo"}},
            .content = {{"data", {{"hosts", "a b"}}}, {"immutable", false}},
            .kept = {"data"}};
}

jobs::OwnedObject key() {
    return {.type = kube::types::kSecrets,
            .name = "demo-key",
            .labels = {},
            .content = {{"type", "Opaque"}, {"data", {{"private", "p"}, {"public", "q"}}}},
            .kept = {},
            .made_once = {"data.private", "data.public"}};
}

jobs::OwnedObject without_hosts() {
    jobs::OwnedObject wanted = settings();
    wanted.content["data"] = json::object();
    wanted.kept = {"data.hosts"};
    return wanted;
}

json::object parsed(std::string_view text) { return json::parse(text).as_object(); }

struct DifferenceCase {
    std::string name;
    jobs::OwnedObject wanted;
    std::string content;
    bool differs;
};

TEST(OwnedObjects, WhatIsWrittenAgain) {
    for (const DifferenceCase& row : std::vector<DifferenceCase>{
             {"the same", settings(), R"({"data":{"hosts":"a b"}})", false},
             {"another value", settings(), R"({"data":{"hosts":"a"}})", true},
             {"one more", settings(), R"({"data":{"hosts":"a b","more":""}})", true},
             {"nothing", settings(), R"({})", true},
             {"a place that nobody keeps", settings(),
              R"({"data":{"hosts":"a b"},"immutable":true,"binaryData":{}})", false},
             {"a key of somebody else's", key(), R"({"data":{"private":"x","public":"y"}})", false},
             {"half a key", key(), R"({"data":{"private":"x"}})", true},
             {"no key", key(), R"({"type":"Opaque"})", true},
             {"an empty key", key(), R"({"data":{"private":"","public":"y"}})", true},
             {"a place that is to be absent", without_hosts(), R"({"data":{"hosts":"a"}})", true},
             {"a place that is absent", without_hosts(), R"({"data":{"more":""}})", false},
         }) {
        SCOPED_TRACE(row.name);
        const json::object content = parsed(row.content);
        EXPECT_EQ(differs(content, row.wanted), row.differs);
        EXPECT_FALSE(differs(corrected(content, row.wanted), row.wanted));
        if (!row.differs) EXPECT_EQ(corrected(content, row.wanted), content);
    }
}

TEST(OwnedObjects, ACorrectionLeavesTheRest) {
    EXPECT_EQ(corrected(parsed(R"({"metadata":{"name":"n"},"data":{"x":"y"},"immutable":true})"),
                        settings()),
              parsed(R"({"metadata":{"name":"n"},"data":{"hosts":"a b"},"immutable":true})"));
    EXPECT_EQ(corrected(parsed(R"({"data":{"private":"x","note":"n"}})"), key()),
              parsed(R"({"data":{"private":"p","note":"n","public":"q"}})"))
        << "halves of two keys would not fit together";
}

TEST(OwnedObjects, WhatIsKeptOfOne) {
    const json::value object = json::parse(R"({
        "apiVersion":"v1","kind":"Secret","type":"Opaque","data":{"private":"c2VjcmV0"},
        "metadata":{"name":"demo-key","namespace":"ml","uid":"u","deletionTimestamp":"now",
          "ownerReferences":[{"apiVersion":"x/v1","kind":"K","name":"demo","uid":"o",
                              "controller":true}]}})");
    const OwnedObjectRecord record = project_owned_object(kube::types::kSecrets, object);
    EXPECT_EQ(record.namespace_, "ml");
    EXPECT_EQ(record.name, "demo-key");
    EXPECT_EQ(record.owner_kind, "K");
    EXPECT_EQ(record.owner_name, "demo");
    EXPECT_EQ(record.owner_uid, JobUid("o"));
    EXPECT_TRUE(record.deleting);
    EXPECT_EQ(record.content, parsed(R"({"type":"Opaque","data":{"private":true}})"))
        << "what is secret stays in the API";
    EXPECT_EQ(project_owned_object(kube::types::kConfigMaps,
                                   json::parse(R"({"kind":"ConfigMap","data":{"a":"b"}})"))
                  .content,
              parsed(R"({"data":{"a":"b"}})"));
    const json::value of_a_master =
        json::parse(R"({"kind":"ConfigMap","data":{"epoch":"1"},"binaryData":{"record":"AAAA"}})");
    EXPECT_EQ(project_owned_object(kube::types::kConfigMaps, of_a_master).content,
              parsed(R"({"data":{"epoch":"1"},"binaryData":{"record":true}})"))
        << "a record of a megabyte is of no use to the operator";
}

// --- when the planner asks for them

const jobs::JobKind& owning_kind() {
    static const jobs::JobKind kind = [] {
        jobs::JobKind made = pytorch();
        made.owned_objects = [](const jobs::Job&, const std::vector<jobs::SeenPod>&) {
            return std::vector<jobs::OwnedObject>{settings()};
        };
        made.has_owned_objects = nullptr;
        return made;
    }();
    return kind;
}

jobs::Job owning_job(const JobSketch& sketch = {}) {
    jobs::Job job = make_job(sketch);
    job.kind = &owning_kind();
    return job;
}

TEST(OwnedObjects, AKindWithoutAnyIsNotAsked) {
    EXPECT_FALSE(plan(make_job({}), {}, Dependents(), kNow).ensure_owned_objects);
    EXPECT_TRUE(plan(owning_job(), {}, Dependents(), kNow).ensure_owned_objects);
}

TEST(OwnedObjects, AreLookedAtWhenSomethingChangesThatTheyTellOf) {
    const jobs::Job job = owning_job();
    Dependents dependents = make_dependents(kAllRunning);
    const jobs::JobStatus status = status_after(job, dependents);
    const auto due = [&] { return plan(job, status, dependents, kNow).ensure_owned_objects; };
    EXPECT_TRUE(due());
    // record_of() makes new facts for each plan here: what was compared is compared again.
    const JobRecord record = record_of(job);
    dependents.configure(record.facts, status);
    const auto still_due = [&] {
        dependents.configure(record.facts, status);
        return plan(record, status, dependents, Orphans(), kNow).ensure_owned_objects;
    };
    const auto look = [&] { dependents.owned_objects_ensured(dependents.owned_objects_version()); };
    look();
    EXPECT_FALSE(still_due());

    const PodPtr worker = make_pod({.index = 1});
    auto changed = std::make_shared<PodRecord>(*worker);
    changed->address = std::make_shared<const std::string>("10.0.0.7");
    const PodPtr with_address = changed;
    dependents.apply(&worker, &with_address);
    EXPECT_TRUE(still_due()) << "an address";
    EXPECT_EQ(seen_pods(*record.facts, dependents),
              (std::vector<jobs::SeenPod>{
                  {{"Master", 0}, ""}, {{"Worker", 0}, ""}, {{"Worker", 1}, "10.0.0.7"}}));
    look();

    auto ended = std::make_shared<PodRecord>(*changed);
    ended->phase = PodPhase::kFailed;
    const PodPtr no_more = ended;
    dependents.apply(&with_address, &no_more);
    EXPECT_TRUE(still_due()) << "it does not run any more";
    EXPECT_EQ(seen_pods(*record.facts, dependents).size(), 2u);
    look();

    auto told = std::make_shared<PodRecord>(*ended);
    told->exits = 3;
    const PodPtr as_before = told;
    dependents.apply(&no_more, &as_before);
    EXPECT_FALSE(still_due()) << "nothing that anybody tells of";
    dependents.owned_objects_changed();
    EXPECT_TRUE(still_due()) << "one of them is not as it was";
}

TEST(OwnedObjects, ASuspendedJobHasThemAndAFinishedOneIsLeftAlone) {
    EXPECT_TRUE(plan(owning_job({.suspend = true}), {}, Dependents(), kNow).ensure_owned_objects);
    const jobs::Job job = owning_job({.workers = -1});
    const jobs::JobStatus done =
        status_after(job, make_dependents({{.type = "Master", .phase = PodPhase::kSucceeded}}));
    ASSERT_TRUE(done.finished());
    EXPECT_FALSE(plan(job, done, Dependents(), kNow).ensure_owned_objects);
}

TEST(OwnedObjects, WhatIsInTheWayIsACondition) {
    const jobs::Job job = owning_job();
    Dependents dependents;
    jobs::JobStatus status = status_after(job, dependents);
    EXPECT_THAT(summary(status), ElementsAre("Created"));
    dependents.obstructed("ConfigMap ml/demo-config has no owner");
    status = status_after(job, dependents, status);
    EXPECT_THAT(summary(status), ElementsAre("Created", "Blocked"));
    EXPECT_EQ(status.conditions[1].reason, "PyTorchJobBlocked");
    EXPECT_EQ(status.conditions[1].message, "ConfigMap ml/demo-config has no owner");
    dependents.owned_objects_ensured(dependents.owned_objects_version());
    EXPECT_THAT(summary(status_after(job, dependents, status)), ElementsAre("Created"));
}

}  // namespace
}  // namespace muster::operators::owned_objects_test
