#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/json/parse.hpp>

#include "apiserver/fake_node.h"
#include "apiserver_http/http_front.h"
#include "base/test_loop.h"
#include "cli/internal/run/run_session.h"
#include "jobs/kind.h"
#include "kube/transport/http_transport.h"
#include "kube/values/document.h"
#include "net/memory_stream.h"
#include "sim/faulty_transport.h"

namespace muster::cli::cluster_run_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const kube::ResourceType kJobs = {"kubeflow.org", "v1", "pytorchjobs", "PyTorchJob"};

constexpr std::string_view kJob =
    "apiVersion: kubeflow.org/v1\n"
    "kind: PyTorchJob\n"
    "metadata: {name: digits, namespace: ml}\n"
    "spec: {pytorchReplicaSpecs: {Worker: {replicas: 1, restartPolicy: Never, template: {spec: "
    "{containers: [{name: pytorch, image: x, command: [x]}]}}}}}\n";
constexpr std::string_view kMap =
    "---\n"
    "apiVersion: v1\n"
    "kind: ConfigMap\n"
    "metadata: {name: settings, namespace: ml}\n"
    "data: {epochs: \"3\"}\n";

/// A run on an API server of others too, over HTTP, whose operator and kubelets the test plays.
class ClusterRun : public testing::Test, protected SimulatedLoop {
  protected:
    ClusterRun() {
        auto listener = std::make_unique<net::MemoryListener>(context.get_executor());
        listener_ = listener.get();
        http_.serve(std::move(listener));
        api_.connect_node(node_);
        EXPECT_TRUE(await(api_.start()));
        make_namespace("ml");
        define();
    }
    ~ClusterRun() override {
        session_.reset();
        await(http_.stop());
        await(connection_.stop());
        await(api_.stop());
        ::close(descriptor_);
    }

    void make_namespace(const std::string& name) {
        create(kube::types::kNamespaces, "",
               json::object{
                   {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
    }
    void define() {
        for (json::value& definition : jobs::custom_resource_definitions(jobs::all_kinds()))
            create(kube::types::kCustomResourceDefinitions, "", std::move(definition));
    }
    /// Its uid.
    std::string create(const kube::ResourceType& type, const std::string& ns, json::value object) {
        auto written = await(admin_.create(type, ns, std::move(object)));
        EXPECT_TRUE(written) << (written ? "" : written.error().message());
        return written ? std::string(written->object->at("metadata").at("uid").get_string())
                       : std::string();
    }
    json::value get(const kube::ResourceType& type, const std::string& name) {
        auto found = await(admin_.get(type, "ml", name));
        return found ? kube::copy_of(**found) : json::value();
    }
    void set_status(const kube::ResourceType& type, const std::string& name,
                    const std::string& status) {
        json::value object = get(type, name);
        object.as_object()["status"] = json::parse(status);
        EXPECT_TRUE(await(admin_.update(type, "ml", name, std::move(object), "status")));
    }
    void set_condition(const std::string& type, const std::string& message) {
        set_status(kJobs, "digits",
                   fmt::format(R"({{"conditions":[{{"type":"{}","status":"True","reason":"R",)"
                               R"("message":"{}"}}]}})",
                               type, message));
    }
    void make_pod(const std::string& name, const std::string& owner, const std::string& job,
                  const std::string& node = "n") {
        create(
            kube::types::kPods, "ml",
            json::parse(fmt::format(
                R"({{"metadata":{{"name":"{}","labels":{{"training.kubeflow.org/job-name":"{}"}},)"
                R"("ownerReferences":[{{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob",)"
                R"("name":"{}","uid":"{}","controller":true}}]}},)"
                R"("spec":{{"nodeName":"{}","containers":[{{"name":"pytorch","image":"x"}}]}}}})",
                name, job, job, owner, node)));
    }
    void warn(const std::string& pod, const std::string& message) {
        const json::value about = get(kube::types::kPods, pod).at("metadata");
        create(
            kube::types::kEvents, "ml",
            json::object{
                {"metadata", {{"name", pod + ".1"}}},
                {"type", "Warning"},
                {"reason", "FailedScheduling"},
                {"message", message},
                {"involvedObject",
                 {{"kind", "Pod"}, {"namespace", "ml"}, {"name", pod}, {"uid", about.at("uid")}}}});
    }
    /// That of the job of the run.
    std::string uid() {
        return std::string(get(kJobs, "digits").at("metadata").at("uid").as_string());
    }

    void begin(std::string manifest, RunSession::Options options = {}) {
        options.on_cluster = true;
        manifest::CheckResult checked =
            manifest::check_documents(manifest::read_manifest(manifest, "m.yaml").documents, {});
        EXPECT_THAT(checked.problems, IsEmpty());
        session_ = std::make_unique<RunSession>(context.get_executor(), clock, rng_, client_,
                                                console_, std::move(checked.objects), options);
        status_.reset();
        asio::co_spawn(context, session_->run(), [this](std::exception_ptr thrown, int status) {
            if (thrown) std::rethrow_exception(thrown);
            status_ = status;
        });
        advance(std::chrono::milliseconds(10));
    }
    int finish() {
        run_until([this] { return status_.has_value(); });
        return *status_;
    }
    bool ended() const { return status_.has_value(); }
    void wait(int seconds) { advance(std::chrono::seconds(seconds)); }
    std::string problem() const {
        return session_->problems().empty() ? "" : format(session_->problems()[0]);
    }

    std::string shown() const {
        std::string text(100'000, '\0');
        const ssize_t size = ::pread(descriptor_, text.data(), text.size(), 0);
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, size)));
        return text;
    }
    int count(std::string_view what) const {
        int found = 0;
        const std::string text = shown();
        for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1))
            ++found;
        return found;
    }

    apiserver::FakeNode node_{context.get_executor(), clock};
    Rng rng_{1};
    apiserver::ApiServer api_{context.get_executor(), clock, rng_, store::make_memory_store()};
    kube::Client admin_{api_};
    net::MemoryListener* listener_ = nullptr;
    apiserver_http::HttpFront front_{api_, {.admin_token = "secret"}};
    net::HttpServer http_{context.get_executor(), clock, {}, [this](net::HttpExchange& exchange) {
                              return front_.serve(exchange);
                          }};
    net::HttpClient connection_{context.get_executor(), clock,
                                [this]() -> Task<Result<std::unique_ptr<net::ByteStream>>> {
                                    co_return listener_->connect();
                                }};
    kube::FixedToken identity_{"secret"};
    kube::HttpTransport transport_{connection_, identity_, {}};
    sim::FaultyTransport way_{context.get_executor(), transport_, clock, 1, {}};
    kube::Client client_{way_};
    int descriptor_ = ::memfd_create("console", MFD_CLOEXEC);
    Console console_{{.descriptor = descriptor_, .color = false, .live = false, .quiet = false}};
    std::unique_ptr<RunSession> session_;
    std::optional<int> status_;
};

TEST_F(ClusterRun, TellsOfItsOwnJobAloneAndLeavesItThere) {
    make_pod("other-worker-0", "another", "other");
    warn("other-worker-0", "none of our business");
    begin(std::string(kJob));
    make_pod("digits-worker-0", uid(), "digits");
    warn("digits-worker-0", "0/3 nodes are available");
    make_pod("digits-worker-1", "of an earlier job of that name", "digits");
    set_status(kube::types::kPods, "digits-worker-0", R"({"phase":"Succeeded"})");
    set_condition("Succeeded", "all is done");
    EXPECT_EQ(finish(), 0);
    EXPECT_THAT(shown(),
                AllOf(HasSubstr("muster: pod digits-worker-0 scheduled\n"),
                      HasSubstr("muster: pod digits-worker-0: FailedScheduling: 0/3 nodes are "
                                "available\n"),
                      HasSubstr("muster: job digits Succeeded: all is done\n"),
                      HasSubstr("muster: PyTorchJob ml/digits succeeded after ")));
    EXPECT_THAT(shown(), AllOf(Not(HasSubstr("other-worker-0")), Not(HasSubstr("worker-1"))));
    EXPECT_FALSE(get(kJobs, "digits").is_null());
}

TEST_F(ClusterRun, AJobOfThatNameIsNotTakenOver) {
    begin(std::string(kJob));
    set_condition("Succeeded", "all is done");
    EXPECT_EQ(finish(), 0);
    begin(std::string(kJob) + std::string(kMap));
    EXPECT_EQ(finish(), 2);
    EXPECT_THAT(
        problem(),
        HasSubstr(
            "m.yaml:3:18: error: metadata.name: PyTorchJob ml/digits already exists: delete it"));
    EXPECT_TRUE(get(kube::types::kConfigMaps, "settings").is_null()) << "nothing was started";
}

TEST_F(ClusterRun, WhatAJobUsesMayBeThereAlready) {
    create(kube::types::kConfigMaps, "ml",
           json::object{{"metadata", {{"name", "settings"}}}, {"data", {{"epochs", "3"}}}});
    begin(std::string(kJob) + std::string(kMap));
    set_condition("Succeeded", "all is done");
    EXPECT_EQ(finish(), 0);
    EXPECT_EQ(count("muster: ConfigMap ml/settings already exists, as in the manifest\n"), 1);
}

TEST_F(ClusterRun, WhatAJobUsesMayNotBeAnother) {
    create(kube::types::kConfigMaps, "ml",
           json::object{{"metadata", {{"name", "settings"}}}, {"data", {{"epochs", "4"}}}});
    begin(std::string(kJob) + std::string(kMap));
    EXPECT_EQ(finish(), 2);
    EXPECT_THAT(problem(), HasSubstr("ConfigMap ml/settings already exists"));
    EXPECT_TRUE(get(kJobs, "digits").is_null());
}

TEST_F(ClusterRun, MissingDefinitionsAndNamespacesAreNamed) {
    std::string elsewhere(kJob);
    elsewhere.replace(elsewhere.find("namespace: ml"), 13, "namespace: nowhere");
    begin(elsewhere);
    EXPECT_EQ(finish(), 2);
    EXPECT_THAT(problem(),
                HasSubstr("error: metadata.namespace: there is no namespace \"nowhere\": create it "
                          "('kubectl create namespace nowhere')"));
    EXPECT_TRUE(await(
        admin_.remove(kube::types::kCustomResourceDefinitions, "", "pytorchjobs.kubeflow.org")));
    begin(std::string(kJob));
    EXPECT_EQ(finish(), 2);
    EXPECT_THAT(problem(),
                HasSubstr("m.yaml:2:7: error: kind: the server has no pytorchjobs.kubeflow.org: "
                          "'muster manifests | kubectl apply -f -' installs"));
}

TEST_F(ClusterRun, ANamespaceOfTheManifestGoesAgainWhenTheJobIsRefused) {
    begin(std::string(kJob));
    const std::string made = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: fresh}\n";
    set_condition("Succeeded", "all is done");
    EXPECT_EQ(finish(), 0);
    begin(std::string(kJob) + made);
    EXPECT_EQ(finish(), 2);
    const auto there = await(admin_.get(kube::types::kNamespaces, "", "fresh"));
    EXPECT_TRUE(!there || (*there)->at("metadata").as_object().contains("deletionTimestamp"));
}

TEST_F(ClusterRun, AServerThatDoesNotAnswerEndsTheRun) {
    way_.set_faults({.unavailable = 1});
    begin(std::string(kJob));
    EXPECT_EQ(finish(), 1);
    ASSERT_TRUE(session_->failure());
    EXPECT_THAT(session_->failure()->message(), HasSubstr("creating PyTorchJob ml/digits: "));
}

TEST_F(ClusterRun, AJobThatNobodyActsOnIsToldOnce) {
    begin(std::string(kJob));
    wait(9);
    EXPECT_EQ(count("no operator seems to run"), 0);
    wait(60);
    EXPECT_EQ(count("muster: job digits: nothing has acted on it for 10 s, so no operator seems to "
                    "run pytorchjobs here; 'kubectl get pods -A -l "
                    "app.kubernetes.io/name=muster-operator'"),
              1);
    EXPECT_FALSE(ended());
    set_condition("Succeeded", "it came after all");
    EXPECT_EQ(finish(), 0);
}

TEST_F(ClusterRun, AnInterruptDeletesTheJobAndWaitsForItsPods) {
    begin(std::string(kJob));
    set_condition("Running", "it runs");
    make_pod("digits-worker-0", uid(), "digits");
    session_->stop(RunSession::Stop::kInterrupt);
    wait(20);
    EXPECT_FALSE(ended()) << "the pod is still there";
    EXPECT_TRUE(get(kJobs, "digits").is_null());
    kube::DeleteOptions now;
    now.grace_period_seconds = 0;
    (void)await(admin_.remove(kube::types::kPods, "ml", "digits-worker-0", now));
    EXPECT_EQ(finish(), 130);
    EXPECT_THAT(shown(), AllOf(HasSubstr("muster: interrupted: deleting the jobs and waiting for "
                                         "their pods to go (Ctrl-C again leaves at once)\n"),
                               HasSubstr("muster: PyTorchJob ml/digits interrupted after "),
                               Not(HasSubstr("stays")), Not(HasSubstr("not gone yet"))));
}

TEST_F(ClusterRun, ASecondInterruptSaysWhatIsNotGoneYet) {
    begin(std::string(kJob));
    set_condition("Running", "it runs");
    make_pod("digits-worker-0", uid(), "digits");
    session_->stop(RunSession::Stop::kInterrupt);
    wait(20);
    session_->stop(RunSession::Stop::kInterrupt);
    EXPECT_EQ(finish(), 130);
    EXPECT_THAT(shown(), HasSubstr("muster: pods that are not gone yet: digits-worker-0\n"));
}

TEST_F(ClusterRun, AJobThatIsSeenToGoIsGoneBeforeItsRemovalIsAnswered) {
    begin(std::string(kJob));
    set_condition("Running", "it runs");
    make_pod("digits-worker-0", uid(), "digits");
    const Duration half_way = std::chrono::seconds(30);
    way_.set_faults({.slow_request = 1, .delay = {half_way, half_way}});
    session_->stop(RunSession::Stop::kInterrupt);
    wait(45);
    ASSERT_TRUE(get(kJobs, "digits").is_null());
    session_->stop(RunSession::Stop::kInterrupt);
    EXPECT_EQ(finish(), 130);
    EXPECT_THAT(shown(), AllOf(HasSubstr("muster: pods that are not gone yet: digits-worker-0\n"),
                               Not(HasSubstr("stays"))));
}

TEST_F(ClusterRun, WhatCanNotBeDeletedStaysAndIsTold) {
    begin(std::string(kJob));
    way_.set_faults({.unavailable = 1});
    session_->stop(RunSession::Stop::kInterrupt);
    wait(20);
    EXPECT_FALSE(ended()) << "it is tried again";
    session_->stop(RunSession::Stop::kInterrupt);
    EXPECT_EQ(finish(), 130);
    EXPECT_EQ(count("muster: deleting digits: "), 1);
    EXPECT_THAT(shown(), HasSubstr("muster: PyTorchJob ml/digits stays: 'muster delete pytorchjobs "
                                   "digits -n ml' deletes it\n"));
}

TEST_F(ClusterRun, TheDeletionIsTriedUntilTheServerIsBack) {
    begin(std::string(kJob));
    way_.set_faults({.unavailable = 1});
    session_->stop(RunSession::Stop::kInterrupt);
    wait(20);
    way_.set_faults({});
    EXPECT_EQ(finish(), 130);
    EXPECT_TRUE(get(kJobs, "digits").is_null());
    EXPECT_THAT(shown(), Not(HasSubstr("stays")));
}

TEST_F(ClusterRun, AJobThatSomebodyDeletesEndsTheRun) {
    begin(std::string(kJob));
    set_condition("Running", "it runs");
    wait(1);
    EXPECT_TRUE(await(admin_.remove(kJobs, "ml", "digits")));
    EXPECT_EQ(finish(), 1);
    EXPECT_THAT(shown(),
                AllOf(HasSubstr("muster: PyTorchJob ml/digits is gone: someone deleted it\n"),
                      HasSubstr("muster: PyTorchJob ml/digits deleted after ")));
}

TEST_F(ClusterRun, GoesOnWithWhatTheWatchBringsAfterALostConnection) {
    begin(std::string(kJob));
    set_condition("Created", "it is created");
    wait(1);
    way_.set_faults({.unavailable = 1, .broken_watch = 1});
    set_condition("Running", "it runs");
    wait(10);
    EXPECT_EQ(count("it runs"), 0);
    way_.set_faults({});
    wait(60);
    EXPECT_EQ(count("muster: job digits Running: it runs\n"), 1);
    EXPECT_EQ(count("muster: job digits Created: it is created\n"), 1);
    set_condition("Succeeded", "all is done");
    EXPECT_EQ(finish(), 0);
}

TEST_F(ClusterRun, PodsThatTheJobKeepsRunOn) {
    begin(std::string(kJob));
    make_pod("digits-worker-0", uid(), "digits");
    set_status(kube::types::kPods, "digits-worker-0", R"({"phase":"Running"})");
    set_condition("Succeeded", "all is done");
    EXPECT_EQ(finish(), 0);
    EXPECT_THAT(
        shown(),
        HasSubstr("muster: pods that keep running, as cleanPodPolicy says: digits-worker-0\n"));
    EXPECT_FALSE(get(kube::types::kPods, "digits-worker-0").is_null());
}

}  // namespace
}  // namespace muster::cli::cluster_run_test
