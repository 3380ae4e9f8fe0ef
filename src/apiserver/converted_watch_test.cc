#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"
#include "base/async/signal.h"

namespace muster::apiserver::converted_watch_test {
namespace {

using ::testing::ElementsAre;

/// A conversion webhook: v1 has spec.old where v2 has spec.new.
class Renamer final : public WebhookCaller {
  public:
    explicit Renamer(const asio::any_io_executor& executor) : let_go_(executor) {}

    Task<Result<std::string>> post(WebhookEndpoint, std::string body, Duration) override {
        json::value review = json::parse(body);
        json::object& request = review.at("request").as_object();
        const std::string desired(request.at("desiredAPIVersion").as_string());
        const bool to_new = desired.ends_with("v2");
        json::array& objects = request.at("objects").as_array();
        for (json::value& value : objects) {
            json::object& object = value.as_object();
            asked.push_back(fmt::format("{} of {}", desired.substr(desired.find('/') + 1),
                                        std::string_view(string_at(metadata_of(object), "name"))));
            object["apiVersion"] = desired;
            json::object* spec = object_at(object, "spec");
            const json::value* field =
                spec == nullptr ? nullptr : spec->if_contains(to_new ? "old" : "new");
            if (field == nullptr) continue;
            const json::value kept = *field;
            spec->erase(to_new ? "old" : "new");
            (*spec)[to_new ? "new" : "old"] = kept;
        }
        while (held) co_await let_go_.wait();
        co_return json::serialize(
            json::object{{"apiVersion", "apiextensions.k8s.io/v1"},
                         {"kind", "ConversionReview"},
                         {"response",
                          {{"uid", request.at("uid")},
                           {"result", {{"status", refuses ? "Failure" : "Success"}}},
                           {"convertedObjects", std::move(objects)}}}});
    }
    void let_go() {
        held = false;
        let_go_.notify_all();
    }

    bool held = false;
    bool refuses = false;
    std::vector<std::string> asked;

  private:
    Signal let_go_;
};

class ConvertedWatchTest : public ServerFixture {
  protected:
    ConvertedWatchTest() {
        server_->connect_webhooks(webhook_);
        const auto version = [](std::string_view name, std::string_view field, bool stored) {
            return fmt::format(
                R"({{"name":"{}","served":true,"storage":{},"schema":{{"openAPIV3Schema":{{
                    "type":"object","properties":{{"spec":{{"type":"object","properties":{{
                    "{}":{{"type":"string"}}}}}}}}}}}}}})",
                name, stored, field);
        };
        const kube::Response made =
            post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                 fmt::format(R"({{"metadata":{{"name":"ks.x.io"}},"spec":{{"group":"x.io",
                     "scope":"Namespaced","names":{{"plural":"ks","kind":"K"}},
                     "versions":[{},{}],"conversion":{{"strategy":"Webhook","webhook":{{
                     "clientConfig":{{"url":"https://h"}},"conversionReviewVersions":["v1"]}}}}}}}})",
                             version("v1", "old", false), version("v2", "new", true)));
        EXPECT_EQ(made.status, 201) << text(made);
    }

    void make(std::string_view name, std::string_view value) {
        const kube::Response made =
            post(kV2, fmt::format(R"({{"apiVersion":"x.io/v2","kind":"K","metadata":{{"name":"{}"}},
                                       "spec":{{"new":"{}"}}}})",
                                  name, value));
        EXPECT_EQ(made.status, 201) << text(made);
    }
    /// What a watch has shown since: "ADDED a=1".
    std::vector<std::string> seen(kube::WatchStream& stream) {
        std::vector<std::string> all;
        for (const Seen& event : events(stream)) {
            const json::object& object = event.object->get_object();
            all.push_back(fmt::format("{} {}={}", kube::event_type_name(event.type),
                                      std::string_view(name_of(object)),
                                      std::string_view(string_at(child(object, "spec"), "old"))));
        }
        return all;
    }

    static constexpr const char* kV1 = "/apis/x.io/v1/namespaces/default/ks";
    static constexpr const char* kV2 = "/apis/x.io/v2/namespaces/default/ks";
    Renamer webhook_{context.get_executor()};
};

TEST_F(ConvertedWatchTest, WatchersShareTheAnswers) {
    std::vector<std::unique_ptr<kube::WatchStream>> watches;
    for (int i = 0; i < 20; ++i) watches.push_back(open_watch(kV1));
    make("a", "1");
    make("b", "2");
    merge_patch(fmt::format("{}/a", kV2), R"({"spec":{"new":"3"}})");
    remove(fmt::format("{}/a", kV2));
    for (const auto& watch : watches)
        EXPECT_THAT(seen(*watch),
                    ElementsAre("ADDED a=1", "ADDED b=2", "MODIFIED a=3", "DELETED a=3"));
    EXPECT_THAT(webhook_.asked, ElementsAre("v1 of a", "v1 of b", "v1 of a", "v1 of a"));
}

TEST_F(ConvertedWatchTest, ASlowWebhookHoldsOnlyThoseThatWaitForIt) {
    const auto one = open_watch(kV1);
    const auto other = open_watch(kV1);
    const auto stored = open_watch(kV2);
    webhook_.held = true;
    make("a", "1");
    // They leave while they wait, and come back.
    EXPECT_THAT(seen(*one), ElementsAre());
    EXPECT_THAT(seen(*stored), ElementsAre("ADDED a="));
    webhook_.let_go();
    EXPECT_THAT(seen(*other), ElementsAre("ADDED a=1"));
}

TEST_F(ConvertedWatchTest, AnAnswerThatIsRefusedEndsTheWatch) {
    const auto watch = open_watch(kV1);
    webhook_.refuses = true;
    make("a", "1");
    bool ended = false;
    const std::vector<Seen> all = events(*watch, &ended);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all.front().type, kube::WatchEventType::kError);
    EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace muster::apiserver::converted_watch_test
