#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"
#include "base/async/task_group.h"

namespace muster::apiserver::list_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

class ListTest : public ServerFixture {
  protected:
    explicit ListTest(ApiServerOptions options = {}) : ServerFixture(options) {}

    static std::string names(const kube::Response& list) {
        std::string all;
        if (at(list, "items").is_array())
            for (const json::value& item : list.body->at("items").as_array())
                all += std::string(item.at("metadata").at("name").as_string()) + " ";
        return all;
    }
    void create(std::string_view letters, std::string_view ns = "default") {
        for (char letter : letters)
            post(fmt::format("/api/v1/namespaces/{}/configmaps", ns),
                 config_map(std::string(1, letter)));
    }
};

class ShortHistoryTest : public ListTest {
  protected:
    ShortHistoryTest() : ListTest({.watches = {.history = {.changes = 3}}}) {}
};

TEST_F(ListTest, AListIsSortedAndCarriesARevisionToWatchFrom) {
    create("cab");
    create("z", "kube-public");
    const kube::Response list = get(kMaps);
    EXPECT_EQ(at(list, "kind"), "ConfigMapList");
    EXPECT_EQ(at(list, "apiVersion"), "v1");
    EXPECT_EQ(names(list), "a b c ");
    EXPECT_EQ(names(get("/api/v1/configmaps")), "a b c z ");
    for (const json::value& item : list.body->at("items").as_array())
        EXPECT_LE(std::stoi(std::string(item.at("metadata").at("resourceVersion").as_string())),
                  std::stoi(revision(list)));
    const kube::Response empty = get("/api/v1/namespaces/nope/configmaps");
    EXPECT_EQ(empty.status, 200) << "an unknown namespace is an empty one";
    EXPECT_EQ(at(empty, "items"), json::array());
}

TEST_F(ListTest, PagesShowTheStateOfTheFirstOne) {
    create("abcdef");
    const kube::Response first = get(kMaps, {{"limit", "2"}});
    EXPECT_EQ(names(first), "a b ");
    EXPECT_EQ(at(first, "metadata.remainingItemCount"), 4);
    remove(std::string(kMaps) + "/c");
    create("cc");
    post(kMaps, config_map("bb"));
    merge_patch(std::string(kMaps) + "/d", R"({"data":{"v":"new"}})");
    const kube::Response second =
        get(kMaps, {{"limit", "2"}, {"continue", string_at_path(first, "metadata.continue")}});
    EXPECT_EQ(names(second), "c d ");
    EXPECT_EQ(revision(second), revision(first));
    EXPECT_EQ(at(second, "metadata.remainingItemCount"), 2) << "of that state, too";
    EXPECT_EQ(body_of(second).at("items").at(1).at("data").at("v"), "1");
    const kube::Response rest =
        get(kMaps, {{"continue", string_at_path(second, "metadata.continue")}});
    EXPECT_EQ(names(rest), "e f ") << "without a limit all the rest comes";
    EXPECT_TRUE(at(rest, "metadata.continue").is_null());
    EXPECT_EQ(names(get(kMaps)), "a b bb c d e f ");
    EXPECT_EQ(names(get(kMaps,
                        {{"resourceVersion", revision(first)}, {"resourceVersionMatch", "Exact"}})),
              "a b c d e f ");
}

TEST_F(ListTest, ALongSearchShowsOneStateAndLetsOthersIn) {
    for (int i = 0; i < 1000; ++i) post(kMaps, config_map(fmt::format("m{:03}", i)));
    const std::string before = revision(get(kMaps, {{"limit", "1"}}));
    const auto ask = [this](kube::Method method, std::string path, Query query,
                            std::vector<kube::Response>& answers) -> Task<void> {
        kube::Request request;
        request.method = method;
        request.path = std::move(path);
        request.query = std::move(query);
        answers.push_back(*co_await server_->call(std::move(request)));
    };
    std::vector<kube::Response> answers;
    TaskGroup tasks(context.get_executor());
    tasks.spawn("list", ask(kube::Method::kGet, kMaps, {{"labelSelector", "!x"}}, answers));
    tasks.spawn("delete", ask(kube::Method::kDelete, std::string(kMaps) + "/m999", {}, answers));
    await(tasks.join());
    ASSERT_EQ(answers.size(), 2);
    EXPECT_EQ(at(answers[0], "kind"), "Status") << "the deletion does not wait for the list";
    EXPECT_EQ(answers[1].body->at("items").as_array().size(), 1000);
    EXPECT_EQ(revision(answers[1]), before);
}

TEST_F(ListTest, WithASelectorTheRemainingCountIsNotTold) {
    create("abc");
    const kube::Response page = get(kMaps, {{"limit", "1"}, {"labelSelector", "!x"}});
    EXPECT_FALSE(at(page, "metadata.continue").is_null());
    EXPECT_TRUE(at(page, "metadata.remainingItemCount").is_null());
}

TEST_F(ShortHistoryTest, AnExpiredContinuationIsRefusedWithOneThatGoesOnInconsistently) {
    create("abcd");
    const kube::Response first = get(kMaps, {{"limit", "2"}});
    create("efghi");
    const kube::Response expired =
        get(kMaps, {{"continue", string_at_path(first, "metadata.continue")}});
    EXPECT_EQ(expired.status, 410);
    EXPECT_EQ(string_at_path(expired, "reason"), "Expired");
    EXPECT_THAT(message(expired), HasSubstr("The provided continue parameter is too old"));
    const kube::Response rest =
        get(kMaps, {{"continue", string_at_path(expired, "metadata.continue")}});
    EXPECT_EQ(names(rest), "c d e f g h i ");
}

TEST_F(ListTest, SelectorsChooseByLabelsAndFields) {
    const char* pods = "/api/v1/namespaces/default/pods";
    post(pods, pod("a", R"(,"labels":{"app":"x"})"));
    post(pods, pod("b", R"(,"labels":{"app":"y"})", R"(,"nodeName":"n1")"));
    post(pods, pod("c"));
    const std::vector<std::pair<std::pair<std::string, std::string>, const char*>> rows = {
        {{"labelSelector", "app=x"}, "a "},
        {{"labelSelector", "app!=x"}, "b c "},
        {{"labelSelector", "app in (x,y)"}, "a b "},
        {{"labelSelector", "!app"}, "c "},
        {{"fieldSelector", "spec.nodeName=n1"}, "b "},
        {{"fieldSelector", "spec.nodeName="}, "a c "},
        {{"fieldSelector", "metadata.name!=a,status.phase=Pending"}, "b c "},
        {{"fieldSelector", "metadata.namespace=default"}, "a b c "},
        {{"fieldSelector", "spec.hostNetwork=false"}, "a b c "},
    };
    for (const auto& [query, expected] : rows)
        EXPECT_EQ(names(get(pods, {query})), expected) << query.second;
}

struct BadList {
    std::vector<std::pair<std::string, std::string>> query;
    int status;
    const char* message;
};

TEST_F(ListTest, ListsThatCannotBeAreRefused) {
    const std::vector<BadList> rows = {
        {{{"labelSelector", "a in"}}, 400, "unable to parse requirement"},
        {{{"fieldSelector", "spec.x=1"}}, 400, "field label not supported: spec.x"},
        {{{"resourceVersion", "x"}}, 400, "invalid resource version"},
        {{{"limit", "x"}}, 400, "parsing \"x\": invalid syntax"},
        {{{"timeoutSeconds", "99999999999999999999"}}, 400, "value out of range"},
        {{{"continue", "!"}}, 400, "invalid continue token"},
        {{{"continue", "e30"}}, 400, "invalid continue token"},
        {{{"resourceVersion", "0"}, {"resourceVersionMatch", "Exact"}}, 422, "is forbidden"},
        {{{"resourceVersionMatch", "Exact"}},
         422,
         "resourceVersionMatch is forbidden unless resourceVersion is provided"},
        {{{"resourceVersion", "1"}, {"resourceVersionMatch", "Odd"}}, 422, "Unsupported value"},
        {{{"sendInitialEvents", "true"}}, 422, "sendInitialEvents is forbidden for list"},
    };
    for (const BadList& row : rows) {
        const kube::Response response = get("/api/v1/namespaces/default/pods", row.query);
        EXPECT_EQ(response.status, row.status) << text(response);
        EXPECT_THAT(message(response), HasSubstr(row.message));
    }
}

TEST_F(ListTest, AFutureRevisionIsATimeoutAfterThreeSeconds) {
    const Instant before = clock.now();
    const kube::Response response = get(kMaps, {{"resourceVersion", "99999"}});
    EXPECT_EQ(response.status, 504);
    EXPECT_THAT(message(response),
                HasSubstr("Timeout: Too large resource version: 99999, current: "));
    EXPECT_EQ(body_of(response).at("details").at("causes").at(0).at("reason"),
              "ResourceVersionTooLarge");
    EXPECT_EQ(at(response, "details.retryAfterSeconds"), 1);
    EXPECT_EQ(clock.now() - before, std::chrono::seconds(3));
}

TEST_F(ListTest, ItemsAreSharedWithACallerThatTakesThemApart) {
    create("ab");
    kube::Client client(*server_);
    kube::ListOptions options;
    options.namespace_ = "default";
    const Result<kube::ListResult> list = await(client.list(kube::types::kConfigMaps, options));
    ASSERT_TRUE(list);
    ASSERT_EQ(list->items.size(), 2u);
    EXPECT_EQ(list->items[0], get(std::string(kMaps) + "/a").body);
    EXPECT_FALSE(list->resource_version.empty());
}

}  // namespace
}  // namespace muster::apiserver::list_test
