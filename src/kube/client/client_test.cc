#include "kube/client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/test_loop.h"
#include "kube/transport/fake_transport.h"

namespace muster::kube::client_test {
namespace {

class ClientTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    /// Runs one call to its end.
    template <class T>
    T run(Task<T> task) {
        T result = await(std::move(task));
        EXPECT_TRUE(transport.finished());
        return result;
    }

    FakeTransport transport{context.get_executor()};
    Client client{transport, "test/1"};
    json::value pod = {{"metadata", {{"name", "a"}}}};
};

TEST_F(ClientTest, GetReturnsTheObject) {
    transport.expect(Method::kGet, "/api/v1/namespaces/ns/pods/a", {}, json_response(pod));
    Result<ObjectPtr> got = run(client.get(types::kPods, "ns", "a"));
    ASSERT_TRUE(got);
    EXPECT_EQ(**got, pod);
    EXPECT_EQ(transport.requests()[0].user_agent, "test/1");
}

TEST_F(ClientTest, AFailureOfTheApiIsAnErrorWithItsCodeAndCauses) {
    Error refused(Code::kInvalid, "Pod \"a\" is invalid: spec.containers: Required value");
    refused.with_causes({{"FieldValueRequired", "Required value", "spec.containers"}});
    transport.expect(Method::kPost, "/api/v1/namespaces/ns/pods", {}, status_response(refused));
    Result<Written> made = run(client.create(types::kPods, "ns", pod));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), Code::kInvalid);
    EXPECT_EQ(made.error().message(), refused.message());
    EXPECT_EQ(made.error().causes(), refused.causes());
}

TEST_F(ClientTest, AnErrorOfTheTransportPassesThrough) {
    transport.expect(Method::kGet, "/api/v1/nodes/n", {}, Error(Code::kUnavailable, "no route"));
    Result<ObjectPtr> got = run(client.get(types::kNodes, "", "n"));
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code(), Code::kUnavailable);
    EXPECT_EQ(got.error().message(), "no route");
}

TEST_F(ClientTest, ListSendsWhatIsSetAndReadsThePage) {
    ListOptions options;
    options.namespace_ = "ns";
    options.label_selector = "a=b";
    options.field_selector = "status.phase=Running";
    options.resource_version = "0";
    options.limit = 2;
    transport.expect(Method::kGet, "/api/v1/namespaces/ns/pods",
                     {{"labelSelector", "a=b"},
                      {"fieldSelector", "status.phase=Running"},
                      {"resourceVersion", "0"},
                      {"limit", "2"}},
                     json_response(json::parse(R"({"kind":"PodList",
        "metadata":{"resourceVersion":"7","continue":"more"},
        "items":[{"metadata":{"name":"a"}},
                 {"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}]})")));
    Result<ListResult> list = run(client.list(types::kPods, options));
    ASSERT_TRUE(list);
    EXPECT_EQ(list->resource_version, "7");
    EXPECT_EQ(list->continue_, "more");
    ASSERT_EQ(list->items.size(), 2u);
    // Real servers leave the type out of the items of built-in lists.
    EXPECT_EQ(*list->items[0],
              json::parse(R"({"metadata":{"name":"a"},"kind":"Pod","apiVersion":"v1"})"));
    EXPECT_EQ(*list->items[1],
              json::parse(R"({"metadata":{"name":"b"},"kind":"Pod","apiVersion":"v1"})"));
}

TEST_F(ClientTest, AnItemOutlivesItsList) {
    transport.expect(Method::kGet, "/api/v1/pods", {}, json_response(json::parse(R"({
        "metadata":{"resourceVersion":"7"},
        "items":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}]})")));
    Result<ListResult> list = run(client.list(types::kPods, {}));
    ASSERT_TRUE(list);
    ObjectPtr item = list->items.at(0);
    list = Error(Code::kInternal, "gone");
    EXPECT_EQ(item->at("metadata").at("name").as_string(), "b");
}

TEST_F(ClientTest, ItemsApartFromTheBodyAreTakenAsTheyAre) {
    auto item = std::make_shared<const json::value>(pod);
    Response answer = json_response(json::parse(R"({"metadata":{"resourceVersion":"7"}})"));
    answer.items = {item};
    transport.expect(Method::kGet, "/api/v1/pods", {}, answer);
    Result<ListResult> list = run(client.list(types::kPods, {}));
    ASSERT_TRUE(list);
    EXPECT_TRUE(transport.requests()[0].items_apart);
    EXPECT_EQ(list->resource_version, "7");
    EXPECT_THAT(list->items, ::testing::ElementsAre(item)) << "shared, not copied";
}

TEST_F(ClientTest, AnAnswerThatIsNoListIsAnError) {
    for (const char* body : {"[]", "{\"items\":{}}", "{\"items\":[1]}"}) {
        transport.expect(Method::kGet, "/api/v1/pods", {}, json_response(json::parse(body)));
        Result<ListResult> list = run(client.list(types::kPods, {}));
        ASSERT_FALSE(list) << body;
        EXPECT_EQ(list.error().code(), Code::kInternal) << body;
        EXPECT_THAT(list.error().message(), ::testing::HasSubstr("list of pods")) << body;
    }
}

TEST_F(ClientTest, AnEmptyListOfGoIsNull) {
    transport.expect(
        Method::kGet, "/api/v1/pods", {},
        json_response(json::parse(R"({"metadata":{"resourceVersion":"7"},"items":null})")));
    Result<ListResult> list = run(client.list(types::kPods, {}));
    ASSERT_TRUE(list);
    EXPECT_TRUE(list->items.empty());
}

TEST_F(ClientTest, WritesCarryTheirOptions) {
    WriteOptions options{
        .dry_run = true, .field_validation = FieldValidation::kStrict, .field_manager = "me"};
    const Query query{{"dryRun", "All"}, {"fieldValidation", "Strict"}, {"fieldManager", "me"}};
    Response answer = json_response(pod, 201);
    answer.warnings = {"unknown field \"spec.x\""};
    transport.expect(Method::kPost, "/api/v1/namespaces/ns/pods", query, answer);
    Result<Written> made = run(client.create(types::kPods, "ns", pod, options));
    ASSERT_TRUE(made);
    EXPECT_EQ(*made->object, pod);
    EXPECT_EQ(made->warnings, answer.warnings);
    EXPECT_EQ(*transport.requests()[0].body, pod);

    transport.expect(Method::kPut, "/api/v1/namespaces/ns/pods/a/status", query, answer);
    EXPECT_TRUE(run(client.update(types::kPods, "ns", "a", pod, "status", options)));

    transport.expect(Method::kPatch, "/api/v1/namespaces/ns/pods/a", query, answer);
    EXPECT_TRUE(
        run(client.patch(types::kPods, "ns", "a", ContentType::kMergePatch, pod, "", options)));
    EXPECT_EQ(transport.requests()[2].content_type, ContentType::kMergePatch);
}

TEST_F(ClientTest, WhoReadsNothingOfASuccessHearsOfARefusalAllTheSame) {
    transport.expect(Method::kPost, "/api/v1/namespaces/ns/pods", {}, json_response(pod, 201));
    EXPECT_TRUE(run(client.create_unread(types::kPods, "ns", pod)));
    EXPECT_TRUE(transport.requests()[0].body_unread);
    EXPECT_EQ(*transport.requests()[0].body, pod);

    transport.expect(Method::kPost, "/api/v1/namespaces/ns/pods", {},
                     status_response(Error(Code::kAlreadyExists, "it is there")));
    const Result<void> refused = run(client.create_unread(types::kPods, "ns", pod));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kAlreadyExists);
    EXPECT_EQ(refused.error().message(), "it is there");
}

TEST_F(ClientTest, ServerSideApplyNamesAManager) {
    transport.expect(Method::kPatch, "/api/v1/namespaces/ns/pods/a", {{"fieldManager", "test/1"}},
                     json_response(pod));
    EXPECT_TRUE(run(client.patch(types::kPods, "ns", "a", ContentType::kApplyPatch, pod)));
}

TEST_F(ClientTest, DeleteSendsOptionsOnlyWhenThereAreAny) {
    const json::value success = {{"kind", "Status"}, {"status", "Success"}};
    transport.expect(Method::kDelete, "/api/v1/namespaces/ns/pods/a", {}, json_response(success));
    EXPECT_TRUE(run(client.remove(types::kPods, "ns", "a")));
    EXPECT_EQ(transport.requests()[0].body, nullptr);

    transport.expect(Method::kDelete, "/api/v1/namespaces/ns/pods/a", {}, json_response(success));
    DeleteOptions options;
    options.grace_period_seconds = 0;
    options.propagation = Propagation::kForeground;
    options.precondition_uid = "u";
    options.precondition_resource_version = "5";
    EXPECT_TRUE(run(client.remove(types::kPods, "ns", "a", options)));
    EXPECT_EQ(*transport.requests()[1].body, json::parse(R"({
        "kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,
        "propagationPolicy":"Foreground","preconditions":{"uid":"u","resourceVersion":"5"}})"));
}

TEST_F(ClientTest, WatchAsksForBookmarks) {
    auto watch = transport.expect_watch("/apis/coordination.k8s.io/v1/leases",
                                        {{"watch", "true"},
                                         {"allowWatchBookmarks", "true"},
                                         {"resourceVersion", "5"},
                                         {"timeoutSeconds", "60"}});
    WatchOptions options;
    options.resource_version = "5";
    options.timeout_seconds = 60;
    auto stream = run(client.watch(types::kLeases, options));
    ASSERT_TRUE(stream);
    EXPECT_TRUE(watch->open());
    stream->reset();
    EXPECT_FALSE(watch->open());
}

TEST_F(ClientTest, LogsCarryTheirOptions) {
    transport.expect_refused_text("/api/v1/namespaces/ns/pods/a/log",
                                  {{"container", "c"}, {"follow", "true"}, {"tailLines", "10"}},
                                  Error(Code::kBadRequest, "container \"c\" is waiting to start"));
    LogOptions options;
    options.container = "c";
    options.follow = true;
    options.tail_lines = 10;
    auto logs = run(client.logs("ns", "a", options));
    ASSERT_FALSE(logs);
    EXPECT_EQ(logs.error().code(), Code::kBadRequest);
}

TEST_F(ClientTest, AnEmptyNameNeverReachesTheCollection) {
    EXPECT_EQ(run(client.get(types::kPods, "ns", "")).error().code(), Code::kBadRequest);
    EXPECT_EQ(run(client.remove(types::kPods, "ns", "")).error().code(), Code::kBadRequest);
    EXPECT_EQ(run(client.update(types::kPods, "ns", "", pod)).error().code(), Code::kBadRequest);
    EXPECT_EQ(
        run(client.patch(types::kPods, "ns", "", ContentType::kMergePatch, pod)).error().code(),
        Code::kBadRequest);
    EXPECT_EQ(run(client.create_subresource(types::kPods, "ns", "", "binding", pod)).error().code(),
              Code::kBadRequest);
    EXPECT_EQ(run(client.logs("ns", "")).error().code(), Code::kBadRequest);
    EXPECT_TRUE(transport.requests().empty());
}

}  // namespace
}  // namespace muster::kube::client_test
