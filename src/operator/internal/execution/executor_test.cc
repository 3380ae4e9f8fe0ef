#include "operator/internal/execution/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/json/serialize.hpp>

#include "base/async/task_fault.h"
#include "base/log.h"
#include "base/time/sim_clock.h"
#include "kube/objects/api_status.h"
#include "kube/objects/codec.h"
#include "operator/internal/job_fixture.h"

namespace muster::operators::executor_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Answers every request by one function and keeps them all.
class AnsweringTransport final : public kube::Transport {
  public:
    std::function<Result<kube::Response>(const kube::Request&)> answer;
    std::vector<std::string> requests;  ///< "POST /api/..." but events
    std::vector<std::string> events;    ///< "reason: message"

    Task<Result<kube::Response>> call(kube::Request request) override {
        static const std::map<kube::Method, std::string> kNames = {
            {kube::Method::kGet, "GET"},
            {kube::Method::kPost, "POST"},
            {kube::Method::kPut, "PUT"},
            {kube::Method::kPatch, "PATCH"},
            {kube::Method::kDelete, "DELETE"}};
        if (request.path.ends_with("/events")) {
            events.push_back(std::string(request.body->at("reason").as_string()) + ": " +
                             std::string(request.body->at("message").as_string()));
            kube::Response response;
            response.body = request.body;
            co_return response;
        }
        const std::string name =
            request.method == kube::Method::kPost
                ? "/" + std::string(request.body->at("metadata").at("name").as_string())
                : "";
        requests.push_back(kNames.at(request.method) + " " + request.path + name);
        co_return answer(request);
    }
    Task<Result<std::unique_ptr<kube::WatchStream>>> watch(kube::Request) override {
        co_return Error(Code::kInternal, "no watches here");
    }
    Task<Result<std::unique_ptr<kube::TextStream>>> stream_text(kube::Request) override {
        co_return Error(Code::kInternal, "no streams here");
    }
};

kube::Response accepted(json::value body) {
    kube::Response response;
    response.body = std::make_shared<json::value>(std::move(body));
    return response;
}
kube::Response refused(Code code, std::string message) {
    kube::Response response = accepted(kube::status_from_error(Error(code, std::move(message))));
    response.status = kube::http_status(code);
    return response;
}

constexpr SlotId kWorker0{1, 0};
const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kServices = "/api/v1/namespaces/default/services";
const std::string kStatus = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs/demo/status";

class ExecutorTest : public ::testing::Test {
  protected:
    ExecutorTest() {
        log::set_sink([](log::Level, std::string_view) {});
        record = std::make_shared<const JobRecord>(record_of(*job));
        PodPtr pod = make_pod({.index = 1, .uid = "pod-uid"});
        auto service = std::make_shared<ServiceRecord>(*make_service("Worker", 1));
        service->uid = "service-uid";
        ServicePtr known = service;
        table.apply(nullptr, &pod);
        table.apply(nullptr, &known);
        transport.answer = [](const kube::Request& request) {
            json::value body = request.body ? *request.body : json::value(json::object{});
            if (request.path.ends_with("/status"))
                body.at("metadata").as_object()["resourceVersion"] = "8";
            return accepted(std::move(body));
        };
    }
    ~ExecutorTest() override {
        log::set_sink({});
        asio::co_spawn(context, tasks.stop(), [](std::exception_ptr) {});
        run_simulation(context, clock);
    }

    Execution execute(Plan plan, std::function<Look(StatusTurn)> look = nullptr) {
        std::optional<Execution> result;
        asio::co_spawn(
            context, executor.execute(record, job, "7", std::move(plan), recorder, std::move(look)),
            [&](std::exception_ptr thrown, Execution done) {
                EXPECT_EQ(thrown, nullptr);
                result = std::move(done);
            });
        run_simulation(context, clock);
        EXPECT_TRUE(result.has_value());
        return result.value_or(Execution{});
    }
    bool creating_pod() {
        const Slot* slot = table.of(JobUid("job-uid")).at(kWorker0);
        return slot != nullptr && slot->creating_pod;
    }
    bool creating_service() {
        const Slot* slot = table.of(JobUid("job-uid")).at(kWorker0);
        return slot != nullptr && slot->creating_service;
    }
    bool deletions(const std::string& uid) {
        DependentRecord object;
        object.uid = uid;
        return table.of(JobUid("job-uid")).is_going(object);
    }
    /// Answers requests to a path that ends so with a refusal; others as before.
    void refuse(std::string ending, Code code, std::string message = "refused") {
        transport.answer =
            [ending = std::move(ending), code, message = std::move(message),
             otherwise = transport.answer](const kube::Request& request) -> Result<kube::Response> {
            if (request.path.ends_with(ending)) return refused(code, message);
            return otherwise(request);
        };
    }
    /// A create finds this object in its place.
    void occupy(json::value object) {
        transport.answer =
            [object = std::move(object)](const kube::Request& request) -> Result<kube::Response> {
            if (request.method == kube::Method::kGet) return accepted(object);
            return refused(Code::kAlreadyExists, "it already exists");
        };
    }
    json::value own_pod() {
        auto pod = jobs::build_pod(*job, {"Worker", 0});
        return kube::encode(*pod);
    }

    asio::io_context context;
    SimClock clock;
    Rng rng{1};
    TaskGroup tasks{context.get_executor()};
    AnsweringTransport transport;
    kube::Client client{transport};
    kube::EventRecorder recorder{client, clock, rng, tasks, "pytorchjob-controller"};
    Table table;
    Executor executor{client, clock, tasks, table, 4};
    std::shared_ptr<const jobs::Job> job = std::make_shared<const jobs::Job>(make_job({}));
    JobPtr record;
};

Plan everything() {
    jobs::JobStatus status;
    status.start_time = "2026-01-01T00:00:00Z";
    return {.create_pods = {{.slot = kWorker0, .restart_history = {}}},
            .create_services = {{kWorker0}},
            .delete_pods = {{"demo-worker-1", "pod-uid", {1, 1}}},
            .delete_services = {{"demo-worker-1", "service-uid", {1, 1}}},
            .status = std::move(status),
            .events = {{kube::EventType::kNormal, "Told", "it"}}};
}

struct Cut {
    const char* name;
    std::size_t sent;  ///< of the status, the pod and the service, in this order
};

class CutPass : public ExecutorTest, public testing::WithParamInterface<Cut> {};

// Whoever cuts an execution short finds all as the next one needs it: what was sent is marked,
// nothing else is, and nothing is told that is not on record.
TEST_P(CutPass, LeavesTheRestToTheNext) {
    const std::size_t sent = GetParam().sent;
    std::size_t asked = 0;
    const Execution done =
        execute(everything(), [&](StatusTurn) { return Look{.enough = asked++ >= sent}; });
    EXPECT_TRUE(done.cut);
    EXPECT_TRUE(done.complete);
    EXPECT_EQ(transport.requests.size(), sent);
    EXPECT_EQ(done.status_written, sent > 0);
    EXPECT_EQ(done.made_any, sent > 1);
    EXPECT_EQ(creating_pod(), sent > 1);
    EXPECT_EQ(creating_service(), sent > 2);
    EXPECT_FALSE(deletions("pod-uid"));
    EXPECT_EQ(std::ranges::count(transport.events, "Told: it"), sent > 0 ? 1 : 0);
}

INSTANTIATE_TEST_SUITE_P(All, CutPass,
                         testing::Values(Cut{"before_the_status", 0}, Cut{"before_its_pod", 1},
                                         Cut{"before_its_service", 2},
                                         Cut{"before_its_deletions", 3}),
                         [](const auto& row) { return row.param.name; });

TEST_F(ExecutorTest, AJobIsNotRemovedByAPassThatIsCut) {
    Plan plan;
    plan.delete_pods = {{"demo-worker-1", "pod-uid", {1, 1}}};
    plan.delete_job = true;
    EXPECT_FALSE(execute(plan, [](StatusTurn) { return Look{.enough = true}; }).job_removed);
    EXPECT_THAT(transport.requests, IsEmpty());
    EXPECT_TRUE(execute(plan, [](StatusTurn) { return Look{}; }).job_removed);
}

TEST_F(ExecutorTest, DeletionsFollowTheStatus) {
    const Execution done = execute(everything());
    EXPECT_TRUE(done.complete);
    EXPECT_EQ(done.resource_version, "8");
    EXPECT_TRUE(done.status_written);
    EXPECT_THAT(
        transport.requests,
        ElementsAre("PUT " + kStatus, "POST " + kPods + "/demo-worker-0",
                    "POST " + kServices + "/demo-worker-0", "DELETE " + kPods + "/demo-worker-1",
                    "DELETE " + kServices + "/demo-worker-1"));
    EXPECT_THAT(transport.events, Contains("Told: it"));
}

TEST_F(ExecutorTest, WithoutItsStatusAPassDeletesAndTellsNothing) {
    for (Code code : {Code::kConflict, Code::kUnavailable}) {
        transport.requests.clear();
        refuse("/status", code);
        const Execution done = execute(everything());
        EXPECT_FALSE(done.complete);
        EXPECT_FALSE(done.status_written);
        EXPECT_THAT(transport.requests, Not(Contains(HasSubstr("DELETE"))));
        EXPECT_THAT(transport.events, Not(Contains("Told: it")));
        EXPECT_FALSE(deletions("pod-uid"));
    }
}

TEST_F(ExecutorTest, AStatusIsWrittenOverTheVersionThatItWasMadeFrom) {
    std::string version;
    std::string uid;
    transport.answer = [&, otherwise = transport.answer](const kube::Request& request) {
        if (request.path.ends_with("/status")) {
            version = request.body->at("metadata").at("resourceVersion").as_string();
            uid = request.body->at("metadata").at("uid").as_string();
        }
        return otherwise(request);
    };
    execute(everything());
    EXPECT_EQ(version, "7");
    EXPECT_EQ(uid, "job-uid");
}

class InterimTest : public ExecutorTest {
  protected:
    InterimTest() {
        // Each write of the status is a revision, and is only accepted over the one before it.
        transport.answer = [this, otherwise = transport.answer](
                               const kube::Request& request) -> Result<kube::Response> {
            if (!request.path.ends_with("/status")) return otherwise(request);
            bases.emplace_back(request.body->at("metadata").at("resourceVersion").as_string());
            json::value body = *request.body;
            body.at("metadata").as_object()["resourceVersion"] = std::to_string(7 + bases.size());
            return accepted(std::move(body));
        };
    }
    /// As soon as it can be written, and once.
    std::function<Look(StatusTurn)> offer() {
        return [this](StatusTurn turn) -> Look {
            turns.push_back(turn);
            if (turn == StatusTurn::kLost) return {.enough = true};
            if (turn == StatusTurn::kTaken || std::exchange(offered, true)) return {};
            jobs::JobStatus status;
            status.start_time = "2026-01-01T00:00:01Z";
            return {.reached = InterimStatus{std::move(status),
                                             {{kube::EventType::kNormal, "Reached", "it"}}}};
        };
    }

    std::vector<std::string> bases;
    std::vector<StatusTurn> turns;
    bool offered = false;
};

TEST_F(InterimTest, WhatIsReachedIsWrittenBesideTheRest) {
    Plan plan;
    plan.create_pods = {{.slot = kWorker0, .restart_history = {}}};
    plan.events = {{kube::EventType::kNormal, "Told", "it"}};
    const Execution done = execute(std::move(plan), offer());
    EXPECT_TRUE(done.complete);
    EXPECT_FALSE(done.cut);
    EXPECT_FALSE(done.status_written) << "the plan had none";
    ASSERT_EQ(done.interim.size(), 1u);
    EXPECT_EQ(done.interim[0].base, "7");
    EXPECT_EQ(done.interim[0].version, "8");
    EXPECT_THAT(transport.requests, testing::UnorderedElementsAre(
                                        "PUT " + kStatus, "POST " + kPods + "/demo-worker-0"));
    const auto told = std::ranges::find(transport.events, "Told: it");
    const auto reached = std::ranges::find(transport.events, "Reached: it");
    ASSERT_NE(reached, transport.events.end());
    EXPECT_LT(told, reached) << "what the plan was made of came first";
    EXPECT_EQ(std::ranges::count(transport.events, "Told: it"), 1);
}

TEST_F(InterimTest, ItFollowsOnTheStatusOfThePlan) {
    Plan plan = everything();
    for (std::int32_t index = 2; index < 12; ++index)
        plan.create_pods.push_back({.slot = {1, index}, .restart_history = {}});
    const Execution done = execute(std::move(plan), offer());
    EXPECT_TRUE(done.status_written);
    EXPECT_EQ(done.resource_version, "8");
    EXPECT_EQ(turns.front(), StatusTurn::kTaken);
    ASSERT_EQ(done.interim.size(), 1u);
    EXPECT_EQ(done.interim[0].base, "8");
    EXPECT_EQ(done.interim[0].version, "9");
    EXPECT_THAT(bases, ElementsAre("7", "8"));
}

TEST_F(InterimTest, OneThatIsNotAcceptedEndsThePass) {
    refuse("/status", Code::kConflict);
    Plan plan;
    for (std::int32_t index = 2; index < 40; ++index)
        plan.create_pods.push_back({.slot = {1, index}, .restart_history = {}});
    const Execution done = execute(std::move(plan), offer());
    EXPECT_FALSE(done.complete);
    EXPECT_TRUE(done.cut);
    EXPECT_THAT(done.interim, IsEmpty());
    EXPECT_THAT(transport.events, Not(Contains("Reached: it")));
    EXPECT_LT(transport.requests.size(), 39u);
    EXPECT_EQ(turns.back(), StatusTurn::kLost);
}

// The watch may show an effect before the answer comes, so the marks are set by then.
TEST_F(ExecutorTest, RequestsAreMarkedBeforeTheyAreSent) {
    int seen = 0;
    transport.answer = [&, otherwise = transport.answer](const kube::Request& request) {
        if (request.method == kube::Method::kPost && request.path == kPods)
            seen += creating_pod() ? 1 : 0;
        if (request.method == kube::Method::kPost && request.path == kServices)
            seen += creating_service() ? 1 : 0;
        if (request.method == kube::Method::kDelete) seen += deletions("pod-uid") ? 10 : 0;
        return otherwise(request);
    };
    execute(everything());
    EXPECT_EQ(seen, 22);
    EXPECT_TRUE(creating_pod()) << "until the watch shows";
    EXPECT_TRUE(deletions("pod-uid") && deletions("service-uid"));
}

// Its labels name another replica since the plan was made: what is summed up there must not change
// because of a mark that is kept here.
TEST_F(ExecutorTest, WhatIsNotAtItsPlaceAnyMoreIsNotMarked) {
    Plan late = everything();
    late.delete_pods[0].slot = kWorker0;
    execute(std::move(late));
    EXPECT_THAT(transport.requests, Contains("DELETE " + kPods + "/demo-worker-1"));
    EXPECT_FALSE(deletions("pod-uid"));
}

TEST_F(ExecutorTest, WhatFailedIsUnmarkedToldAndTriedAgain) {
    transport.answer = [](const kube::Request& request) -> Result<kube::Response> {
        if (request.path.ends_with("/status")) return accepted(*request.body);
        return refused(Code::kForbidden, "quota exceeded");
    };
    const Execution done = execute(everything());
    EXPECT_FALSE(done.complete);
    EXPECT_FALSE(creating_pod());
    EXPECT_FALSE(creating_service());
    EXPECT_FALSE(deletions("pod-uid"));
    for (const char* reason :
         {"FailedCreatePod", "FailedCreateService", "FailedDeletePod", "FailedDeleteService"})
        EXPECT_THAT(transport.events,
                    Contains(AllOf(HasSubstr(reason), HasSubstr("quota exceeded"))));
}

TEST_F(ExecutorTest, AFaultCutsThePassWhichIsTriedAgain) {
    {
        const TaskFault fault("operator write");
        const Execution done = execute(everything());
        EXPECT_GT(fault.hits(), 0u);
        EXPECT_TRUE(done.cut || !done.complete);
        EXPECT_FALSE(creating_pod());
    }
    EXPECT_TRUE(execute(everything()).complete);
}

TEST_F(ExecutorTest, WhatIsGoneAlreadyIsAsGoodAsDeleted) {
    for (Code code : {Code::kNotFound, Code::kConflict}) {
        refuse("/demo-worker-1", code);
        EXPECT_TRUE(execute(everything()).complete);
        EXPECT_THAT(transport.events, Not(Contains(HasSubstr("DeletePod"))));
    }
}

TEST_F(ExecutorTest, ADeletionIsOfThatVeryObject) {
    std::string body;
    transport.answer = [&, otherwise = transport.answer](const kube::Request& request) {
        if (request.method == kube::Method::kDelete && request.path.starts_with(kPods))
            body = json::serialize(*request.body);
        return otherwise(request);
    };
    execute(everything());
    EXPECT_THAT(body, HasSubstr(R"("preconditions":{"uid":"pod-uid"})"));
}

TEST_F(ExecutorTest, OurOwnPodFromAnEarlierTryIsASuccess) {
    occupy(own_pod());
    const Execution done = execute({.create_pods = {{.slot = kWorker0, .restart_history = {}}}});
    EXPECT_TRUE(done.complete);
    EXPECT_THAT(transport.events, ElementsAre("SuccessfulCreatePod: Created pod: demo-worker-0"));
}

TEST_F(ExecutorTest, APodOfAnotherJobOfOurNameIsNotOurs) {
    json::value pod = own_pod();
    pod.at("metadata").at("ownerReferences").at(0).as_object()["uid"] = "predecessor";
    occupy(std::move(pod));
    EXPECT_FALSE(execute({.create_pods = {{.slot = kWorker0, .restart_history = {}}}}).complete);
    EXPECT_THAT(transport.events,
                ElementsAre(AllOf(HasSubstr("FailedCreatePod: Error creating: Pod "
                                            "default/demo-worker-0 already exists and belongs to "
                                            "PyTorchJob demo (uid predecessor)"),
                                  HasSubstr("delete it or rename the job"))));
}

// Else the operator, which selects by labels, would wait for it in silence.
TEST_F(ExecutorTest, OurPodWithoutItsLabelsIsReported) {
    json::value pod = own_pod();
    pod.at("metadata").as_object().erase("labels");
    occupy(std::move(pod));
    EXPECT_FALSE(execute({.create_pods = {{.slot = kWorker0, .restart_history = {}}}}).complete);
    EXPECT_THAT(transport.events, ElementsAre(HasSubstr("its labels do not")));
}

TEST_F(ExecutorTest, APodThatVanishesBetweenTwoLooksIsTriedAgainInSilence) {
    transport.answer = [](const kube::Request& request) {
        return refused(
            request.method == kube::Method::kGet ? Code::kNotFound : Code::kAlreadyExists, "raced");
    };
    EXPECT_FALSE(execute({.create_pods = {{.slot = kWorker0, .restart_history = {}}}}).complete);
    EXPECT_THAT(transport.events, IsEmpty());
    EXPECT_FALSE(creating_pod());
}

// The cache may not know yet that the job is being deleted, or that another has its name by now.
TEST_F(ExecutorTest, NothingIsAdoptedForAJobThatIsGone) {
    for (json::object metadata :
         {json::object{{"uid", "job-uid"}, {"deletionTimestamp", "2026-01-01T00:00:00Z"}},
          json::object{{"uid", "its-successor"}}}) {
        transport.requests.clear();
        transport.answer = [&](const kube::Request&) {
            return accepted(json::object{{"metadata", metadata}});
        };
        EXPECT_FALSE(execute({.adopt_pods = {{"demo-worker-0", "orphan"}}}).complete);
        EXPECT_THAT(transport.requests, ElementsAre(HasSubstr("GET ")));
    }
}

/// Of a kind whose workers another operator had made by batch Jobs, with one of these in its place.
class BatchJobTest : public ExecutorTest {
  protected:
    BatchJobTest() {
        kind_.replica_types[1].had_batch_job = true;
        auto known = std::make_shared<JobRecord>(*record);
        known->kind = &kind_;
        record = std::move(known);
    }
    /// There is one that these control; its deletion is answered so.
    void there_is(json::array owners, bool deleting = false,
                  std::optional<Code> deletion = std::nullopt) {
        json::object metadata{{"uid", "batch-uid"}, {"ownerReferences", std::move(owners)}};
        if (deleting) metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z";
        transport.answer = [this, metadata, deletion, otherwise = transport.answer](
                               const kube::Request& request) -> Result<kube::Response> {
            if (!request.path.ends_with("/jobs/demo-worker-0")) return otherwise(request);
            if (request.method == kube::Method::kGet)
                return accepted(json::object{{"metadata", metadata}});
            deleted_ = json::serialize(*request.body);
            if (deletion) return refused(*deletion, "refused");
            return accepted(json::object{});
        };
    }
    static json::array owned_by(std::string_view uid) {
        return {json::object{{"apiVersion", "kubeflow.org/v1"},
                             {"kind", "PyTorchJob"},
                             {"name", "demo"},
                             {"uid", uid},
                             {"controller", true}}};
    }
    Execution take_over() { return execute({.end_batch_jobs_of = {kWorker0}}); }
    Execution create() {
        return execute({.create_pods = {{.slot = kWorker0, .restart_history = {}}}});
    }

    const std::string kBatchJob = "/apis/batch/v1/namespaces/default/jobs/demo-worker-0";
    jobs::JobKind kind_ = pytorch();
    std::string deleted_;
};

TEST_F(BatchJobTest, GoesWithoutItsPodsWhenTheyAreTakenOver) {
    there_is(owned_by("job-uid"));
    EXPECT_TRUE(take_over().complete);
    EXPECT_THAT(transport.requests, ElementsAre("GET " + kBatchJob, "DELETE " + kBatchJob));
    EXPECT_THAT(deleted_, AllOf(HasSubstr(R"("propagationPolicy":"Orphan")"),
                                HasSubstr(R"("uid":"batch-uid")")));
    EXPECT_THAT(transport.events,
                ElementsAre(HasSubstr("TookOver: Took over the pods of Job demo-worker-0, ")));
}

TEST_F(BatchJobTest, OfAnotherJobIsReportedAndStays) {
    for (const json::array& owners : {owned_by("predecessor"), json::array{}}) {
        there_is(owners);
        EXPECT_FALSE(take_over().complete);
        EXPECT_EQ(deleted_, "");
    }
    EXPECT_THAT(transport.events, ElementsAre(HasSubstr("FailedTakeOver"))) << "then it is counted";
}

TEST_F(BatchJobTest, ThatIsGoneIsTakenOverInSilence) {
    refuse("/jobs/demo-worker-0", Code::kNotFound);
    EXPECT_TRUE(take_over().complete);
    EXPECT_THAT(transport.events, IsEmpty());
}

TEST_F(BatchJobTest, GoesWithPodsThatNobodySeesBeforeOursIsMade) {
    struct Row {
        bool deleting;
        std::optional<Code> deletion;
    };
    for (const Row& row : {Row{false, std::nullopt}, Row{false, Code::kConflict},
                           Row{false, Code::kNotFound}, Row{true, std::nullopt}}) {
        transport.requests.clear();
        deleted_.clear();
        there_is(owned_by("job-uid"), row.deleting, row.deletion);
        EXPECT_FALSE(create().complete) << "it is looked at again";
        EXPECT_FALSE(creating_pod());
        EXPECT_THAT(transport.requests, Not(Contains(HasSubstr("POST"))));
        if (row.deleting)
            EXPECT_EQ(deleted_, "");
        else
            EXPECT_THAT(deleted_, HasSubstr(R"("propagationPolicy":"Foreground")"));
        EXPECT_THAT(transport.events, IsEmpty()) << "it is not a failure";
    }
}

TEST_F(BatchJobTest, OfSomebodyElseIsInNobodysWay) {
    there_is(owned_by("predecessor"));
    EXPECT_TRUE(create().complete);
    EXPECT_THAT(transport.requests,
                ElementsAre("GET " + kBatchJob, "POST " + kPods + "/demo-worker-0"));
}

TEST_F(BatchJobTest, ThatMayNotBeReadKeepsThePodFromBeingMade) {
    refuse("/jobs/demo-worker-0", Code::kForbidden, "jobs.batch is forbidden");
    EXPECT_FALSE(create().complete);
    EXPECT_THAT(transport.events, ElementsAre(AllOf(HasSubstr("FailedCreatePod"),
                                                    HasSubstr("jobs.batch is forbidden"))));
}

TEST_F(ExecutorTest, AJobThatIsGoneNeedsNoOtherTry) {
    refuse("/status", Code::kNotFound);
    EXPECT_TRUE(execute(everything()).complete);
}

}  // namespace
}  // namespace muster::operators::executor_test
