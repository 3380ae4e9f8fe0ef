#include "runtime/internal/files/data_watch.h"

#include <gmock/gmock.h>

#include "apiserver/api_server.h"
#include "base/test_loop.h"

namespace muster::runtime::data_watch_test {
namespace {

class DataWatchTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    DataWatchTest() {
        EXPECT_TRUE(await(server.start()));
        write(kube::types::kConfigMaps, "old");
        watch.start(tasks);
        settle();
    }
    ~DataWatchTest() override {
        await(tasks.stop());
        await(server.stop());
    }

    void write(const kube::ResourceType& type, const std::string& name,
               const std::string& namespace_ = "default") {
        json::object object{
            {"apiVersion", "v1"},
            {"kind", type.kind},
            {"metadata", {{"name", name}, {"labels", {{"at", std::to_string(++writes)}}}}}};
        if (auto there = await(client.get(type, namespace_, name)); there)
            ASSERT_TRUE(await(client.update(type, namespace_, name, std::move(object))));
        else
            ASSERT_TRUE(await(client.create(type, namespace_, std::move(object))));
        settle();
    }
    std::unique_ptr<DataWatch::Following> follow(const References& references, int& told) {
        return watch.follow("default", references, [&told] { ++told; });
    }

    int writes = 0;
    Rng rng{1};
    apiserver::ApiServer server{context.get_executor(), clock, rng, store::make_memory_store()};
    kube::Client client{server, "test"};
    TaskGroup tasks{context.get_executor()};
    DataWatch watch{client, clock, rng};
};

TEST_F(DataWatchTest, TellsEachChangeOfWhatIsFollowed) {
    int maps = 0;
    int both = 0;
    const auto one = follow({.config_maps = {"old", "new"}, .secrets = {}}, maps);
    auto two = follow({.config_maps = {"old"}, .secrets = {"old"}}, both);
    EXPECT_EQ(maps, 0) << "what was there before is not a change";

    write(kube::types::kConfigMaps, "old");
    EXPECT_EQ(maps, 1);
    EXPECT_EQ(both, 1);
    write(kube::types::kConfigMaps, "new");
    EXPECT_EQ(maps, 2) << "made";
    ASSERT_TRUE(await(client.remove(kube::types::kConfigMaps, "default", "new")));
    settle();
    EXPECT_EQ(maps, 3) << "removed";
    write(kube::types::kSecrets, "old");
    EXPECT_EQ(both, 2);
    EXPECT_EQ(maps, 3) << "a Secret is not the ConfigMap of its name";

    two.reset();
    write(kube::types::kConfigMaps, "old");
    EXPECT_EQ(maps, 4);
    EXPECT_EQ(both, 2) << "its handle is gone";
}

TEST_F(DataWatchTest, KeepsNamespacesApart) {
    ASSERT_TRUE(await(client.create(kube::types::kNamespaces, "",
                                    json::object{{"metadata", {{"name", "other"}}}})));
    int told = 0;
    const auto following = follow({.config_maps = {"old"}, .secrets = {}}, told);
    write(kube::types::kConfigMaps, "old", "other");
    EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace muster::runtime::data_watch_test
