#include <gmock/gmock.h>

#include <deque>

#include "apiserver/fake_extension_caller.h"
#include "apiserver/request_handler.h"
#include "apiserver/server_fixture.h"
#include "base/async/task_fault.h"

// What servers behind APIServices keep in a namespace goes with it.

namespace muster::apiserver::extension_content_test {
namespace {

using namespace std::chrono_literals;
using Fake = FakeExtensionCaller;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kServices = "/apis/apiregistration.k8s.io/v1/apiservices";
const std::string kFlunders = "/apis/wardle.example.com/v1/namespaces/gone/flunders";

/// A server with flunders. Those in the namespace go when they are told to, unless they are held.
class ExtensionContentTest : public ServerFixture {
  protected:
    ExtensionContentTest() {
        caller_.answer = [this](const Fake::Asked& asked) { return answer(asked); };
        server_->connect_extensions(caller_);
        EXPECT_EQ(post("/api/v1/namespaces/default/services", R"({"metadata":{"name":"wardle"},
            "spec":{"type":"ExternalName","externalName":"localhost"}})")
                      .status,
                  201);
        EXPECT_EQ(post("/api/v1/namespaces", R"({"metadata":{"name":"gone"}})").status, 201);
    }
    ~ExtensionContentTest() override { stop(); }

    void serve() {
        ASSERT_EQ(post(kServices, R"({"metadata":{"name":"v1.wardle.example.com"},"spec":{
            "group":"wardle.example.com","version":"v1","groupPriorityMinimum":1000,
            "versionPriority":15,
            "service":{"namespace":"default","name":"wardle","port":8443}}})")
                      .status,
                  201);
        settle();
        caller_.asked.clear();
    }
    Result<Fake::Answer> answer(const Fake::Asked& asked) {
        const net::HttpRequest& request = asked.request;
        if (failure_ != nullptr) return Error(Code::kUnavailable, failure_);
        if (request.target == "/openapi/v3") return Fake::text(404, "");
        if (!request.target.starts_with(kFlunders)) return Fake::text(200, list_of_kinds());
        const bool is_list = request.method == "GET";
        if (is_list) return Fake::text(200, list());
        if (!held_) {
            if (request.target == kFlunders)
                flunders_.clear();
            else
                std::erase(flunders_, request.target.substr(kFlunders.size() + 1));
        }
        return Fake::text(200, "{}");
    }
    std::string list_of_kinds() const {
        return fmt::format(
            R"({{"kind":"APIResourceList","resources":[{{"name":"flunders","kind":"Flunder",
               "namespaced":true,"verbs":[{}]}}]}})",
            verbs_);
    }
    std::string list() const {
        if (flunders_.empty()) return R"({"metadata":{},"items":[]})";
        return fmt::format(
            R"({{"metadata":{{"remainingItemCount":{}}},"items":[{{"metadata":{{
               "name":"{}","finalizers":[{}]}}}}]}})",
            flunders_.size() - 1, flunders_.front(), held_ ? R"("example.com/held")" : "");
    }
    /// What was asked about the namespace: "DELETE /one".
    std::vector<std::string> asked() const {
        std::vector<std::string> all;
        for (const Fake::Asked& each : caller_.asked)
            if (each.request.target.starts_with(kFlunders))
                all.push_back(each.request.method + " " +
                              each.request.target.substr(kFlunders.size()));
        return all;
    }
    void remove_namespace() {
        EXPECT_EQ(remove("/api/v1/namespaces/gone").status, 200);
        settle();
    }
    bool is_gone() { return get("/api/v1/namespaces/gone").status == 404; }
    /// "True REASON: message" of a condition of the namespace.
    std::string condition(std::string_view type) {
        const json::value conditions = at(get("/api/v1/namespaces/gone"), "status.conditions");
        if (!conditions.is_array()) return "none";
        for (const json::value& each : conditions.get_array())
            if (string_at(each.get_object(), "type") == type)
                return fmt::format("{} {}: {}", string_at(each.get_object(), "status"),
                                   string_at(each.get_object(), "reason"),
                                   string_at(each.get_object(), "message"));
        return "none";
    }

    Fake caller_{context.get_executor()};
    std::deque<std::string> flunders_ = {"one", "two"};
    std::string verbs_ = R"("list","get","delete","deletecollection")";
    bool held_ = false;
    const char* failure_ = nullptr;
};

TEST_F(ExtensionContentTest, AllOfItGoesByOneRequest) {
    serve();
    remove_namespace();
    EXPECT_THAT(asked(), ElementsAre("DELETE ", "GET ?limit=1"));
    EXPECT_TRUE(is_gone());
}

TEST_F(ExtensionContentTest, OneByOneWhereThereIsNoOtherWay) {
    verbs_ = R"("list","delete")";
    serve();
    remove_namespace();
    EXPECT_THAT(asked(), ElementsAre("GET ?limit=1", "DELETE /one", "GET ?limit=1", "DELETE /two",
                                     "GET ?limit=1", "GET ?limit=1"));
    EXPECT_TRUE(is_gone());
}

TEST_F(ExtensionContentTest, WhatCanNotBeDeletedIsNotAskedFor) {
    verbs_ = R"("list","get","create")";
    serve();
    remove_namespace();
    EXPECT_THAT(asked(), ElementsAre());
    EXPECT_TRUE(is_gone());
}

TEST_F(ExtensionContentTest, ItStaysAsLongAsSomethingIsHeld) {
    held_ = true;
    serve();
    remove_namespace();
    EXPECT_EQ(condition("NamespaceContentRemaining"),
              "True SomeResourcesRemain: Some resources are remaining: "
              "flunders.wardle.example.com has 2 resource instances");
    EXPECT_EQ(condition("NamespaceFinalizersRemaining"),
              "True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: "
              "example.com/held in 1 resource instances");
    EXPECT_EQ(condition("NamespaceDeletionContentFailure"),
              "False ContentDeleted: All content successfully deleted, may be waiting on "
              "finalization");
    const std::size_t at_first = asked().size();
    advance(300s);
    const std::size_t looks = (asked().size() - at_first) / 2;
    EXPECT_GE(looks, 20u);
    EXPECT_LE(looks, 25u) << "every 15 s in the end";
    held_ = false;
    advance(16s);
    EXPECT_TRUE(is_gone());
    const std::size_t at_last = asked().size();
    advance(60s);
    EXPECT_EQ(asked().size(), at_last);
}

TEST_F(ExtensionContentTest, AServerThatNeverSaidWhatItServesMayKeepAnything) {
    failure_ = "connection refused";
    serve();
    remove_namespace();
    EXPECT_EQ(condition("NamespaceDeletionDiscoveryFailure"),
              "True DiscoveryFailed: Discovery failed for some groups: wardle.example.com/v1: the "
              "server of APIService v1.wardle.example.com has not said yet what it serves");
    remove(kServices + "/v1.wardle.example.com");
    advance(2s);
    EXPECT_TRUE(is_gone());
}

TEST_F(ExtensionContentTest, OneThatFailsIsNamed) {
    serve();
    failure_ = "connection refused";
    remove_namespace();
    EXPECT_THAT(condition("NamespaceDeletionContentFailure"),
                HasSubstr("True ContentDeletionFailed: Failed to delete all resource types: "
                          "flunders.wardle.example.com: connection refused"));
    EXPECT_THAT(asked(), ElementsAre("DELETE "));
    failure_ = nullptr;
    advance(2s);
    EXPECT_TRUE(is_gone());
}

TEST_F(ExtensionContentTest, AFaultIsMadeUpFor) {
    serve();
    {
        const TaskFault fault("content behind APIServices");
        remove_namespace();
        EXPECT_EQ(fault.hits(), 1u);
    }
    EXPECT_FALSE(is_gone());
    advance(2s);
    EXPECT_TRUE(is_gone());
}

}  // namespace
}  // namespace muster::apiserver::extension_content_test
