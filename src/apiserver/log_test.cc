#include <gmock/gmock.h>

#include "apiserver/internal/server_fixture.h"

namespace muster::apiserver {
namespace {

using ::testing::HasSubstr;

/// A node that answers with the options that it was asked with.
class EchoNode final : public NodeApi {
  public:
    class Text final : public kube::TextStream {
      public:
        explicit Text(std::string text) : text_(std::move(text)) {}
        Task<Result<std::optional<std::string>>> read() override {
            if (text_.empty()) co_return std::optional<std::string>();
            co_return std::optional<std::string>(std::exchange(text_, {}));
        }

      private:
        std::string text_;
    };

    Task<Result<std::unique_ptr<kube::TextStream>>> logs(std::string namespace_, std::string pod,
                                                         kube::LogOptions options) override {
        if (options.container == "late")
            co_return Error(Code::kBadRequest,
                            "container \"late\" in pod \"p\" is waiting to start: "
                            "ContainerCreating");
        std::string text = fmt::format(
            "{}/{} {} follow={} tail={} since={}", namespace_, pod, options.container,
            options.follow, options.tail_lines.value_or(-1), options.since_seconds.value_or(-1));
        co_return std::make_unique<Text>(std::move(text));
    }
};

class LogTest : public ServerFixture {
  protected:
    void SetUp() override {
        server_->connect_node(node_);
        post("/api/v1/namespaces/default/pods",
             R"({"metadata":{"name":"p"},"spec":{"nodeName":"n1","containers":[
                 {"name":"main","image":"a"},{"name":"late","image":"a"}]}})");
        post("/api/v1/namespaces/default/pods", pod("single", "", R"(,"nodeName":"n1")"));
        post("/api/v1/namespaces/default/pods", pod("unbound"));
    }
    Result<std::string> log(std::string name, Query query = {}) {
        kube::Request request;
        request.path = fmt::format("/api/v1/namespaces/default/pods/{}/log", name);
        request.query = std::move(query);
        auto stream = await(server_->stream_text(std::move(request)));
        if (!stream) return stream.error();
        auto text = await((*stream)->read());
        if (!text) return text.error();
        return text->value_or("");
    }

    EchoNode node_;
};

TEST_F(LogTest, OptionsReachTheNodeWithTheOnlyContainerFilledIn) {
    EXPECT_EQ(*log("single", {{"follow", "true"}, {"tailLines", "5"}}),
              "default/single main follow=true tail=5 since=-1");
    EXPECT_EQ(*log("single", {{"sinceTime", "2023-11-14T22:13:10Z"}}),
              "default/single main follow=false tail=-1 since=10");
    EXPECT_EQ(*log("p", {{"container", "main"}}), "default/p main follow=false tail=-1 since=-1");
}

TEST_F(LogTest, AnUnboundPodHasAnEmptyLog) { EXPECT_EQ(*log("unbound"), ""); }

struct BadLog {
    const char* pod;
    std::vector<std::pair<std::string, std::string>> query;
    Code code;
    const char* message;
};

TEST_F(LogTest, RefusalsAreThoseOfARealServer) {
    const std::vector<BadLog> rows = {
        {"none", {}, Code::kNotFound, "pods \"none\" not found"},
        {"p",
         {},
         Code::kBadRequest,
         "a container name must be specified for pod p, choose one of: [main late]"},
        {"p", {{"container", "zz"}}, Code::kBadRequest, "container zz is not valid for pod p"},
        {"p",
         {{"container", "late"}},
         Code::kBadRequest,
         "container \"late\" in pod \"p\" is waiting to start: ContainerCreating"},
        {"single", {{"tailLines", "-1"}}, Code::kInvalid, "must be greater than or equal to 0"},
        {"single", {{"limitBytes", "0"}}, Code::kInvalid, "must be greater than 0"},
        {"single",
         {{"sinceSeconds", "1"}, {"sinceTime", "2023-11-14T22:13:10Z"}},
         Code::kInvalid,
         "at most one of"},
    };
    for (const BadLog& row : rows) {
        const Result<std::string> refused = log(row.pod, row.query);
        ASSERT_FALSE(refused) << row.message;
        EXPECT_EQ(refused.error().code(), row.code);
        EXPECT_THAT(refused.error().message(), HasSubstr(row.message));
    }
}

TEST_F(LogTest, WithoutANodeTheRefusalNamesIt) {
    restart();
    post("/api/v1/namespaces/default/pods", pod("single", "", R"(,"nodeName":"n1")"));
    const Result<std::string> refused = log("single");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("no connection to node n1"));
}

}  // namespace
}  // namespace muster::apiserver
