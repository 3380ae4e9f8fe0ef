#include "operator/internal/execution/owned_object_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/json/parse.hpp>

#include "base/time/sim_clock.h"
#include "kube/objects/api_status.h"
#include "operator/internal/job_fixture.h"

namespace muster::operators::owned_object_writer_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum OwnedObjectOutcome;

/// One object behind an API that knows nothing else.
class OneObject final : public kube::Transport {
  public:
    std::optional<json::value> object;
    std::optional<Code> refusal;  ///< of the next write
    std::vector<std::string> requests;

    Task<Result<kube::Response>> call(kube::Request request) override {
        kube::Response response;
        response.body = request.body;
        const auto fail = [&](Code code) {
            response.body =
                std::make_shared<json::value>(kube::status_from_error(Error(code, "refused")));
            response.status = kube::http_status(code);
            return response;
        };
        if (request.method == kube::Method::kGet) {
            requests.emplace_back("GET");
            if (!object) co_return fail(Code::kNotFound);
            response.body = std::make_shared<json::value>(*object);
            co_return response;
        }
        requests.emplace_back(request.method == kube::Method::kPost ? "POST" : "PUT");
        if (refusal) co_return fail(*std::exchange(refusal, std::nullopt));
        if (request.method == kube::Method::kPost && object) co_return fail(Code::kAlreadyExists);
        object = *request.body;
        co_return response;
    }
    Task<Result<std::unique_ptr<kube::WatchStream>>> watch(kube::Request) override {
        co_return Error(Code::kInternal, "no watches here");
    }
    Task<Result<std::unique_ptr<kube::TextStream>>> stream_text(kube::Request) override {
        co_return Error(Code::kInternal, "no streams here");
    }
};

class OwnedObjectWriter : public ::testing::Test {
  protected:
    Result<OwnedObjectOutcome> keep() {
        std::optional<Result<OwnedObjectOutcome>> result;
        asio::co_spawn(context, ensure_owned_object(client, nullptr, job, wanted),
                       [&](std::exception_ptr thrown, Result<OwnedObjectOutcome> done) {
                           EXPECT_EQ(thrown, nullptr);
                           result = std::move(done);
                       });
        run_simulation(context, clock);
        return *result;
    }
    json::value& there() { return *api.object; }
    json::object& data() { return there().at("data").as_object(); }

    asio::io_context context;
    SimClock clock;
    OneObject api;
    kube::Client client{api};
    std::shared_ptr<const jobs::Job> job = std::make_shared<const jobs::Job>(make_job({}));
    jobs::OwnedObject wanted{.type = kube::types::kConfigMaps,
                             .name = "demo-config",
                             .labels = {{"app", "demo"}},
                             .content = {{"data", {{"hosts", "a"}}}},
                             .kept = {"data"}};
};

TEST_F(OwnedObjectWriter, MakesWhatIsMissing) {
    EXPECT_EQ(keep().value(), kMade);
    EXPECT_THAT(api.requests, ElementsAre("POST"));
    EXPECT_EQ(there(), json::parse(R"({
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"hosts": "a"},
        "metadata": {"name": "demo-config", "namespace": "default",
            "labels": {"app": "demo", "training.kubeflow.org/job-name": "demo"},
            "ownerReferences": [{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
                "name": "demo", "uid": "job-uid", "controller": true,
                "blockOwnerDeletion": true}]}})"));
}

TEST_F(OwnedObjectWriter, WritesWhatDiffersAndNothingElse) {
    ASSERT_TRUE(keep().has_value());
    there().as_object()["immutable"] = false;
    EXPECT_EQ(keep().value(), kWasRight);
    EXPECT_THAT(api.requests, ElementsAre("POST", "POST", "GET"));
    data()["hosts"] = "elsewhere";
    api.requests.clear();
    EXPECT_EQ(keep().value(), kCorrected);
    EXPECT_THAT(api.requests, ElementsAre("POST", "GET", "PUT"));
    EXPECT_EQ(data().at("hosts"), "a");
    EXPECT_EQ(there().at("immutable"), false);
}

TEST_F(OwnedObjectWriter, GivesTheJobsLabelToOneOfAnEarlierOperator) {
    ASSERT_TRUE(keep().has_value());
    there().at("metadata").as_object()["labels"] = json::object{{"theirs", "1"}};
    EXPECT_EQ(keep().value(), kWasRight);
    EXPECT_EQ(there().at("metadata").at("labels"),
              json::parse(R"({"theirs": "1", "training.kubeflow.org/job-name": "demo"})"));
}

TEST_F(OwnedObjectWriter, LeavesAForeignOneAlone) {
    for (const char* owner : {"[]", R"([{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u",
                                        "controller":true}])"}) {
        api.object = json::parse(R"({"metadata":{"name":"demo-config"},"data":{}})");
        there().at("metadata").as_object()["ownerReferences"] = json::parse(owner);
        const json::value before = there();
        const auto kept = keep();
        ASSERT_FALSE(kept.has_value());
        EXPECT_EQ(kept.error().code(), Code::kAlreadyExists);
        EXPECT_THAT(kept.error().message(), HasSubstr("ConfigMap default/demo-config"));
        EXPECT_EQ(there(), before);
    }
}

TEST_F(OwnedObjectWriter, WaitsForOneThatGoes) {
    ASSERT_TRUE(keep().has_value());
    there().at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    EXPECT_EQ(keep().error().code(), Code::kConflict);
    // Gone between both requests.
    api.object.reset();
    api.refusal = Code::kAlreadyExists;
    EXPECT_EQ(keep().error().code(), Code::kConflict);
}

TEST_F(OwnedObjectWriter, PassesRefusalsOn) {
    api.refusal = Code::kForbidden;
    EXPECT_EQ(keep().error().code(), Code::kForbidden);
    ASSERT_TRUE(keep().has_value());
    data()["hosts"] = "elsewhere";
    api.refusal = Code::kAlreadyExists;  // of the POST; the PUT goes through
    ASSERT_TRUE(keep().has_value());
    wanted.make = [](json::object&) -> Result<void> { return Error(Code::kInternal, "no key"); };
    api.object.reset();
    EXPECT_EQ(keep().error().message(), "no key");
}

TEST_F(OwnedObjectWriter, MakesAKeyOnce) {
    int made = 0;
    wanted = {.type = kube::types::kSecrets,
              .name = "demo-ssh",
              .labels = {},
              .content = {{"type", "kubernetes.io/ssh-auth"}},
              .kept = {},
              .made_once = {"data.key"},
              .make = [&made](json::object& content) -> Result<void> {
                  content["data"] = {{"key", std::to_string(++made)}};
                  return {};
              }};
    ASSERT_TRUE(keep().has_value());
    ASSERT_TRUE(keep().has_value());
    EXPECT_EQ(data().at("key"), "1");
    data().erase("key");
    ASSERT_TRUE(keep().has_value());
    EXPECT_EQ(data().at("key"), "3");
}

}  // namespace
}  // namespace muster::operators::owned_object_writer_test
