#include "master_process/plans/plan_object.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "apiserver/api_server.h"
#include "base/log.h"
#include "base/test_loop.h"
#include "kube/values/document.h"
#include "master/service/quiet_host.h"
#include "store/store.h"

namespace muster::master_process::plan_object_test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const kube::ResourceType kPlans{"elastic.iml.github.io", "v1alpha1", "scaleplans", "ScalePlan"};

const json::value kDefinition = json::parse(R"({
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "scaleplans.elastic.iml.github.io"},
  "spec": {"group": "elastic.iml.github.io", "scope": "Namespaced",
           "names": {"plural": "scaleplans", "singular": "scaleplan", "kind": "ScalePlan",
                     "listKind": "ScalePlanList"},
           "versions": [{"name": "v1alpha1", "served": true, "storage": true,
                         "subresources": {"status": {}},
                         "schema": {"openAPIV3Schema": {
                             "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})");

/// The way to the API server: counts, and is cut while the test says so.
class Way final : public kube::Transport {
  public:
    explicit Way(kube::Transport& below) : below_(below) {}

    Task<Result<kube::Response>> call(kube::Request request) override {
        ++requests;
        if (away) co_return Error(Code::kUnavailable, "no route to the server");
        if (before_write && request.method == kube::Method::kPut)
            co_await std::exchange(before_write, {})();
        co_return co_await below_.call(std::move(request));
    }
    Task<Result<std::unique_ptr<kube::WatchStream>>> watch(kube::Request request) override {
        return below_.watch(std::move(request));
    }
    Task<Result<std::unique_ptr<kube::TextStream>>> stream_text(kube::Request request) override {
        return below_.stream_text(std::move(request));
    }

    bool away = false;
    int requests = 0;
    std::function<Task<void>()> before_write;

  private:
    kube::Transport& below_;
};

class PlanObjectTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    PlanObjectTest() {
        EXPECT_TRUE(await(api.start()));
        EXPECT_TRUE(await(client.create(kube::types::kCustomResourceDefinitions, "", kDefinition)));
        settle();
        make();
        plan.start(tasks);
        settle();
        service = plan.service({.executor = context.get_executor(), .job = host, .wake = [] {}});
    }
    ~PlanObjectTest() override {
        await(tasks.stop());
        await(api.stop());
    }

    /// As the operator does it.
    void make(const char* owner = "demo") {
        EXPECT_TRUE(await(client.create(
            kPlans, "default",
            {{"apiVersion", kPlans.api_version()},
             {"kind", kPlans.kind},
             {"metadata",
              {{"name", "demo-plan"},
               {"labels", {{"scale-type", "auto"}}},
               {"ownerReferences", json::array{{{"apiVersion", "elastic.iml.github.io/v1alpha1"},
                                                {"kind", "ElasticJob"},
                                                {"name", owner},
                                                {"uid", "u"},
                                                {"controller", true}}}}}},
             {"spec", {{"ownerJob", "demo"}}}})));
    }
    void remove() { EXPECT_TRUE(await(client.remove(kPlans, "default", "demo-plan"))); }
    json::value object() {
        const auto found = await(client.get(kPlans, "default", "demo-plan"));
        EXPECT_TRUE(found);
        return found ? kube::copy_of(**found) : json::value();
    }
    std::string spec() { return json::serialize(object().at("spec")); }
    /// The operator has ended the plan as it is now.
    void end_plan(const char* phase, const char* why = "") {
        json::value now = object();
        now.as_object()["status"] =
            json::object{{"phase", phase},
                         {"message", why},
                         {"observedGeneration", now.at("metadata").at("generation")}};
        EXPECT_TRUE(await(client.update(kPlans, "default", "demo-plan", std::move(now), "status")));
    }
    /// A bad node; `pod` is then placed there again, if one is named.
    void leave_out(const std::string& machine, const std::string& pod = {}) {
        service->excluded({.incarnation = "x", .slot = {}, .address = "x", .host = machine}, {});
        if (!pod.empty())
            service->joined(
                {.incarnation = pod, .slot = {}, .address = "y", .pod = pod, .host = machine});
        service->advance(clock.now(), clock.wall_now());
        settle();
    }

    Rng rng{1};
    apiserver::ApiServer api{context.get_executor(), clock, rng, store::make_memory_store()};
    kube::Client client{api};
    Way way{api};
    kube::Client of_master{way};
    TaskGroup tasks{context.get_executor()};
    PlanObject plan{context.get_executor(),
                    of_master,
                    clock,
                    {.type = kPlans, .namespace_ = "default", .name = "demo-plan", .job = "demo"}};
    master::QuietHost host;
    std::unique_ptr<master::Service> service;
};

const std::string kOne = R"({"ownerJob":"demo","excludedNodes":[{"node":"n1"}]})";

TEST_F(PlanObjectTest, AWishIsTwoRequestsAndALookAtWhatBecameOfIt) {
    advance(1h);
    EXPECT_EQ(way.requests, 0) << "without a wish there is nothing to ask";
    leave_out("n1");
    EXPECT_EQ(spec(), kOne);
    EXPECT_EQ(way.requests, 2);
    end_plan("Succeeded");
    advance(1h);
    EXPECT_EQ(way.requests, 3);
}

TEST_F(PlanObjectTest, AnOpenWishIsLookedAtEverMoreSeldom) {
    leave_out("n1");
    advance(7s);
    EXPECT_EQ(way.requests, 5) << "after 1, 3 and 7 s";
    advance(1h);
    EXPECT_LT(way.requests, 80);
    end_plan("Succeeded");
    advance(1min);
    const int before = way.requests;
    advance(1h);
    EXPECT_EQ(way.requests, before);
}

TEST_F(PlanObjectTest, TheLastWishIsWrittenWhenTheApiIsBack) {
    way.away = true;
    leave_out("n1");
    leave_out("n2");
    advance(5min);
    EXPECT_EQ(spec(), R"({"ownerJob":"demo"})");
    EXPECT_LT(way.requests, 20);
    way.away = false;
    advance(1min);
    EXPECT_EQ(spec(), R"({"ownerJob":"demo","excludedNodes":[{"node":"n1"},{"node":"n2"}]})");
    EXPECT_EQ(object().at("metadata").at("generation"), 2) << "nothing was queued";
}

TEST_F(PlanObjectTest, ANewWishReplacesOneThatIsOpen) {
    leave_out("n1");
    advance(10min);
    leave_out("n2");
    EXPECT_EQ(spec(), R"({"ownerJob":"demo","excludedNodes":[{"node":"n1"},{"node":"n2"}]})")
        << "it does not wait for the pause of the one before";
}

TEST_F(PlanObjectTest, WhoeverWritesMeanwhileIsNotOverwritten) {
    way.before_write = [this]() -> Task<void> {
        const auto patched =
            co_await client.patch(kPlans, "default", "demo-plan", kube::ContentType::kMergePatch,
                                  {{"metadata", {{"annotations", {{"seen", "yes"}}}}}});
        EXPECT_TRUE(patched);
    };
    leave_out("n1");
    EXPECT_EQ(spec(), R"({"ownerJob":"demo"})") << "a conflict";
    advance(2s);
    EXPECT_EQ(spec(), kOne);
    EXPECT_EQ(object().at_pointer("/metadata/annotations/seen"), "yes");
}

TEST_F(PlanObjectTest, ItWaitsForAnObjectThatIsNotThere) {
    remove();
    leave_out("n1");
    advance(1min);
    make();
    advance(1min);
    EXPECT_EQ(spec(), kOne);
    end_plan("Succeeded");
    advance(1min);
    remove();
    make();
    leave_out("n2");
    EXPECT_EQ(spec(), R"({"ownerJob":"demo","excludedNodes":[{"node":"n1"},{"node":"n2"}]})");
}

TEST_F(PlanObjectTest, AnObjectOfSomeoneElseStaysAsItIs) {
    remove();
    make("other");
    leave_out("n1");
    advance(10min);
    EXPECT_EQ(spec(), R"({"ownerJob":"demo"})");
}

TEST_F(PlanObjectTest, APodIsMovedOnceAndARefusalIsToldOnce) {
    std::vector<std::string> told;
    log::set_sink([&](log::Level level, std::string_view line) {
        if (level == log::Level::kWarning) told.emplace_back(line);
    });
    leave_out("n1", "p1");
    EXPECT_EQ(spec(), R"({"ownerJob":"demo","excludedNodes":[{"node":"n1"}],)"
                      R"("migratePods":[{"name":"p1"}]})");
    end_plan("Failed", "the job has no pod \"p1\"");
    advance(5s);
    EXPECT_EQ(spec(), kOne) << "the rest of it";
    end_plan("Failed", "the job has ended");
    advance(1min);
    const int before = way.requests;
    advance(1h);
    EXPECT_EQ(way.requests, before) << "what is refused as a whole is not repeated";
    log::set_sink({});
    EXPECT_THAT(told, ElementsAre(AllOf(HasSubstr("has refused a wish"), HasSubstr("no pod")),
                                  HasSubstr("the job has ended")));
    leave_out("n2");
    EXPECT_EQ(spec(), R"({"ownerJob":"demo","excludedNodes":[{"node":"n1"},{"node":"n2"}]})");
}

}  // namespace
}  // namespace muster::master_process::plan_object_test
