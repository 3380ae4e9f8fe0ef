#include <gmock/gmock.h>

#include "apiserver/fake_node.h"
#include "apiserver/server_fixture.h"

namespace muster::apiserver::log_test {
namespace {

using ::testing::HasSubstr;

class LogTest : public ServerFixture {
  protected:
    void SetUp() override {
        server_->connect_node(node_);
        for (const char* name : {"p", "single"}) {
            node_.add_container("default", name, "main");
            node_.start("default", name, "main");
            node_.write("default", name, "main", "one\ntwo\n");
            node_.end("default", name, "main");
        }
        node_.add_container("default", "p", "late");
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
        std::string text;
        for (;;) {
            auto piece = await((*stream)->read());
            if (!piece) return piece.error();
            if (!*piece) return text;
            text += **piece;
        }
    }

    FakeNode node_{context.get_executor(), clock};
};

TEST_F(LogTest, OptionsReachTheNodeWithTheOnlyContainerFilledIn) {
    EXPECT_EQ(*log("single", {{"follow", "true"}, {"tailLines", "1"}}), "two\n");
    EXPECT_EQ(*log("single", {{"sinceTime", "2023-11-14T22:13:10Z"}, {"limitBytes", "5"}}),
              "one\nt");
    EXPECT_THAT(*log("p", {{"container", "main"}, {"timestamps", "true"}}),
                HasSubstr("2023-11-14T22:13:20.000000000Z two\n"));
    (void)log("single", {{"previous", "true"}});
    EXPECT_EQ(*log("single", {{"sinceTime", "1678-01-01T00:00:00Z"}}), "one\ntwo\n");
    ASSERT_EQ(node_.asked.size(), 5u);
    const FakeNode::Asked& first = node_.asked[0];
    EXPECT_EQ(first.namespace_ + "/" + first.pod, "default/single");
    EXPECT_EQ(first.options.container, "main");
    EXPECT_TRUE(first.options.follow);
    EXPECT_EQ(first.options.since_seconds, std::nullopt);
    EXPECT_EQ(node_.asked[1].options.since_seconds, 10);
    EXPECT_FALSE(node_.asked[1].options.follow);
    EXPECT_EQ(node_.asked[1].options.tail_lines, std::nullopt);
    EXPECT_EQ(node_.asked[2].pod, "p");
    EXPECT_TRUE(node_.asked[3].options.previous);
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
    EXPECT_EQ(refused.error().code(), Code::kUnavailable);
    EXPECT_THAT(refused.error().message(), HasSubstr("no connection to node n1"));
}

}  // namespace
}  // namespace muster::apiserver::log_test
