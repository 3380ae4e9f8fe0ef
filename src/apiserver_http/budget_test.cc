#include <gmock/gmock.h>

#include "apiserver/fake_node.h"
#include "apiserver_http/front_fixture.h"

// What lists, watches and logs do when the clients of the process have all the memory that they may have.

namespace muster::apiserver_http::budget_test {
namespace {

using testing::HasSubstr;

int yaml_texts = 0;
std::string write_yaml(const json::value& value) {
    ++yaml_texts;
    return json::serialize(value);
}

/// 9 MB of ConfigMaps, which are more than the budget, and bob, who may read them.
/// bob is no administrator, and reads what he likes.
class ReaderFixture : public FrontFixture {
  protected:
    using FrontFixture::FrontFixture;

    void let_bob_view() {
        const std::string bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
        EXPECT_EQ(post(bindings, R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole",
            "name":"view"},"subjects":[{"kind":"User","name":"bob"}]})")
                      .status,
                  201);
        settle();
    }
    std::unique_ptr<net::HttpBody> stream(net::HttpRequest request) {
        auto body = await(client_.stream(std::move(request), std::chrono::seconds(10)));
        EXPECT_TRUE(body.has_value());
        return *std::move(body);
    }
};

class BudgetTest : public ReaderFixture {
  protected:
    BudgetTest()
        : ReaderFixture({.manage_fields = true, .default_roles = true},
                        {.yaml = {.read = nullptr, .write = write_yaml}}) {
        settle();
        const std::string data(450'000, 'x');
        for (int i = 0; i < 20; ++i)
            EXPECT_EQ(
                post(kMaps,
                     fmt::format(R"({{"metadata":{{"name":"m{}"}},"data":{{"k":"{}"}}}})", i, data))
                    .status,
                201);
        let_bob_view();
    }

    net::HttpRequest of_bob(std::string target, std::string_view accept = "application/json") {
        return request("GET", std::move(target), "",
                       {{"Impersonate-User", "bob"}, {"Accept", accept}});
    }
    std::unique_ptr<net::HttpBody> watch(std::string_view query = "") {
        return stream(of_bob(fmt::format("{}?watch=1{}", kMaps, query)));
    }

    net::ByteBudget::Share others_{budget_};
};

TEST_F(BudgetTest, AListIsRefusedBeforeItIsWritten) {
    others_.set(kInFlight - 100'000);
    yaml_texts = 0;
    for (const char* accept : {"application/json", "application/yaml"}) {
        const net::HttpResponse refused = send(of_bob(kMaps, accept));
        EXPECT_EQ(refused.status, 429) << accept;
        EXPECT_EQ(refused.headers.find("Retry-After"), "1");
        EXPECT_EQ(refused.body, "Too many requests, please try again later.\n");
    }
    EXPECT_EQ(send(of_bob(kMaps + "?includeObject=Object",
                          "application/json;as=Table;v=v1;g=meta.k8s.io"))
                  .status,
              429);
    EXPECT_EQ(yaml_texts, 0);
    EXPECT_EQ(budget_->used(), kInFlight - 100'000);
    // What is small is served, and so is an administrator.
    EXPECT_EQ(
        send(of_bob(kMaps, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"))
            .status,
        200);
    EXPECT_EQ(send(of_bob(kPods)).status, 200);
    EXPECT_EQ(get(kMaps).status, 200);
}

TEST_F(BudgetTest, AListAloneMayExceedIt) {
    const net::HttpResponse answer = send(of_bob(kMaps));
    EXPECT_EQ(answer.status, 200);
    EXPECT_GT(answer.body.size(), kInFlight);
    EXPECT_EQ(budget_->used(), 0u);
}

TEST_F(BudgetTest, AWatchEndsBeforeAPieceForWhichThereIsNoRoom) {
    const std::string now =
        json::value_to<std::string>(parsed(get(kPods)).at("metadata").at("resourceVersion"));
    others_.set(kInFlight - 100'000);
    auto refused = watch();
    EXPECT_EQ(refused->head().status, 200);
    EXPECT_EQ(await(refused->read()), std::nullopt);
    // Small pieces are not counted.
    auto small = watch("&resourceVersion=" + now);
    EXPECT_EQ(post(kMaps, config_map("small")).status, 201);
    EXPECT_THAT(lines(*small, 1), testing::ElementsAre(HasSubstr(R"("name":"small")")));
    others_.set(0);
    auto served = watch();
    const auto piece = await(served->read());
    ASSERT_TRUE(piece && *piece);
    EXPECT_THAT(**piece, testing::StartsWith(R"({"type":"ADDED")"));
}

/// bob, and a container whose log he may read.
class LogBudgetTest : public ReaderFixture {
  protected:
    LogBudgetTest() : ReaderFixture({.default_roles = true}) {
        server_->connect_node(node_);
        node_.add_container("default", "p", "main");
        node_.start("default", "p", "main");
        settle();
        EXPECT_EQ(post(kPods, R"({"metadata":{"name":"p"},"spec":{"nodeName":"n1","containers":[
            {"name":"main","image":"a"}]}})")
                      .status,
                  201);
        let_bob_view();
    }
    /// Before the node that its logs refer to.
    void TearDown() override { await(http_.stop()); }

    std::unique_ptr<net::HttpBody> follow(std::string_view user = "bob") {
        return stream(
            request("GET", kPods + "/p/log?follow=true", "", {{"Impersonate-User", user}}));
    }
    void write(std::size_t bytes) {
        node_.write("default", "p", "main", std::string(bytes, 'x') + "\n");
        settle();
    }
    std::string read(net::HttpBody& body, std::size_t bytes) {
        std::string text;
        while (text.size() < bytes) {
            auto piece = await(body.read());
            if (!piece) return text + "cut off";
            if (!*piece) return text + "the end";
            text += **piece;
        }
        return text;
    }

    apiserver::FakeNode node_{context.get_executor(), clock};
    net::ByteBudget::Share others_{budget_};
};

TEST_F(LogBudgetTest, APieceThatIsNotReceivedIsCounted) {
    auto log = follow();
    EXPECT_EQ(budget_->used(), 0u) << "nothing has been written yet";
    write(2'000'000);
    EXPECT_GE(budget_->used(), 2'000'000u);
    EXPECT_EQ(read(*log, 2'000'001).size(), 2'000'001u);
    settle();
    EXPECT_EQ(budget_->used(), 0u);
}

TEST_F(LogBudgetTest, OneForWhichThereIsNoRoomEndsALog) {
    auto log = follow();
    others_.set(kInFlight - 100'000);
    write(10);
    EXPECT_EQ(read(*log, 11), "xxxxxxxxxx\n") << "a small piece needs no room";
    write(200'000);
    EXPECT_EQ(read(*log, 1), "cut off");
    EXPECT_EQ(budget_->used(), kInFlight - 100'000);
}

TEST_F(LogBudgetTest, WithoutRoomNoLogIsBegun) {
    others_.set(kInFlight - 10'000);
    auto refused = follow();
    EXPECT_EQ(refused->head().status, 429);
}

TEST_F(LogBudgetTest, AnAdministratorFollowsWhateverIsInMemory) {
    others_.set(kInFlight);
    auto log = await(
        client_.stream(request("GET", kPods + "/p/log?follow=true"), std::chrono::seconds(10)));
    ASSERT_TRUE(log);
    write(200'000);
    EXPECT_EQ(read(**log, 200'001).size(), 200'001u);
}

/// 20,000 bytes of a field, which the server keeps while it serves the request.
TEST_F(LogBudgetTest, LargeHeadsAreCountedAsLongAsTheirRequests) {
    const auto with_large_head = [&] {
        return await(client_.stream(
            request("GET", kPods + "?watch=1", "",
                    {{"Impersonate-User", "bob"}, {"X-Large", std::string(20'000, 'x')}}),
            std::chrono::seconds(10)));
    };
    auto watch = with_large_head();
    ASSERT_TRUE(watch);
    EXPECT_EQ((*watch)->head().status, 200);
    EXPECT_GE(budget_->used(), 40'000u);
    others_.set(kInFlight - 60'000);
    auto refused = with_large_head();
    ASSERT_TRUE(refused);
    EXPECT_EQ((*refused)->head().status, 429);
    EXPECT_EQ(send(request("GET", kPods, "", {{"Impersonate-User", "bob"}})).status, 200);
}

}  // namespace
}  // namespace muster::apiserver_http::budget_test
