#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "apiserver/server_fixture.h"
#include "base/async/signal.h"

namespace muster::apiserver::overlap_test {
namespace {

/// A store whose commits take as long as the test wants, as those of a disk do: what is begun is
/// committed in its order when the test lets it.
class SlowStore final : public store::Store {
  public:
    SlowStore(store::Store& store, const asio::any_io_executor& executor)
        : store_(store), changed_(executor) {}

    /// Lets so many more writes be committed.
    void let(std::uint64_t writes) {
        allowed_ += writes;
        changed_.notify_all();
    }

    store::Revision revision() const override { return store_.revision(); }
    Task<Result<store::StoredObject>> create(store::StoreKey key, Make make) override {
        co_await turn();
        co_return co_await store_.create(std::move(key), std::move(make));
    }
    Task<Result<store::StoredObject>> update(store::StoreKey key, store::Revision expected,
                                             Make make) override {
        co_await turn();
        co_return co_await store_.update(std::move(key), expected, std::move(make));
    }
    Task<Result<store::StoredObject>> remove(store::StoreKey key, store::Revision expected,
                                             Make make) override {
        co_await turn();
        co_return co_await store_.remove(std::move(key), expected, std::move(make));
    }
    Task<Result<store::StoredObject>> get(store::StoreKey key) override {
        return store_.get(std::move(key));
    }
    Task<Result<std::vector<store::StoredObject>>> list(std::string resource,
                                                        std::string namespace_,
                                                        std::optional<store::StoreKey> after,
                                                        std::size_t limit) override {
        return store_.list(std::move(resource), std::move(namespace_), std::move(after), limit);
    }
    void observe(Observer observer) override { store_.observe(std::move(observer)); }
    store::StoreHistory history() const override { return store_.history(); }
    Task<void> settled() override {
        const std::uint64_t all = begun_;
        while (allowed_ < all) co_await changed_.wait();
    }
    std::optional<Error> failure() const override { return std::nullopt; }
    Task<void> stop() override { co_return; }

  private:
    Task<void> turn() {
        const std::uint64_t mine = ++begun_;
        while (allowed_ < mine) co_await changed_.wait();
    }

    store::Store& store_;
    Signal changed_;
    std::uint64_t begun_ = 0;
    std::uint64_t allowed_ = 0;
};

class OverlapTest : public ServerFixture {
  protected:
    static constexpr std::uint64_t kAll = 1'000'000;

    OverlapTest() {
        stop();
        auto slow = std::make_unique<SlowStore>(*store_, context.get_executor());
        slow_ = slow.get();
        server_ = std::make_unique<ApiServer>(context.get_executor(), clock, rng_, std::move(slow),
                                              options_);
        begin(server_->start());
        slow_->let(4);  // the namespaces that every cluster has
        settle();
    }
    ~OverlapTest() override { stop(); }

    template <class T>
    void begin(Task<T> task) {
        asio::co_spawn(context, std::move(task), asio::detached);
        settle();
    }
    /// The response, once it is there.
    using Answered = std::shared_ptr<kube::Response>;
    Answered begin(kube::Method method, std::string path, std::string_view body) {
        kube::Request request;
        request.method = method;
        request.path = std::move(path);
        request.body = parse(body);
        auto answered = std::make_shared<kube::Response>();
        asio::co_spawn(context, server_->call(std::move(request)),
                       [answered](std::exception_ptr, Result<kube::Response> response) {
                           *answered = std::move(*response);
                       });
        settle();
        return answered;
    }
    Answered begin_service(std::string_view name, std::string_view more) {
        return begin(
            kube::Method::kPost, "/api/v1/namespaces/default/services",
            fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"ports":[{{"port":1}}]{}}}}})",
                        name, more));
    }
    std::size_t stored(std::string resource, std::string namespace_) {
        return await(store_->list(std::move(resource), std::move(namespace_), std::nullopt, 0))
            ->size();
    }

    std::unique_ptr<store::Store> store_ = store::make_memory_store();
    SlowStore* slow_ = nullptr;
};

TEST_F(OverlapTest, AnAddressIsPromisedToOneServiceAtATime) {
    constexpr const char* kSecond = R"(,"clusterIP":"10.96.0.2")";
    const Answered first = begin_service("a", kSecond);
    const Answered second = begin_service("b", kSecond);
    EXPECT_EQ(second->status, 422) << "refused before the first is on disk";
    const Answered third = begin_service("c", "");
    const Answered fourth = begin_service("d", "");
    slow_->let(kAll);
    settle();
    EXPECT_EQ(first->status, 201);
    EXPECT_EQ(string_at_path(*third, "spec.clusterIP"), "10.96.0.1");
    EXPECT_EQ(string_at_path(*fourth, "spec.clusterIP"), "10.96.0.3");
    EXPECT_EQ(begin_service("e", kSecond)->status, 422);
}

TEST_F(OverlapTest, AnAddressThatARefusedServiceWantedIsFreeAgain) {
    slow_->let(kAll);
    constexpr const char* kWanted = R"(,"clusterIP":"10.96.0.9")";
    EXPECT_EQ(begin_service("Not-A-Name", kWanted)->status, 422);
    EXPECT_EQ(begin_service("a", kWanted)->status, 201);
    begin(kube::Method::kDelete, "/api/v1/namespaces/default/services/a", "{}");
    EXPECT_EQ(begin_service("b", kWanted)->status, 201);
}

TEST_F(OverlapTest, ContentThatIsUnderWayWhenItsNamespaceEndsGoesWithIt) {
    slow_->let(1);
    begin(kube::Method::kPost, "/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
    ASSERT_EQ(stored("namespaces", ""), 5u);
    // The end is begun first and the content was admitted: the end has not been observed yet.
    begin(kube::Method::kDelete, "/api/v1/namespaces/team", "{}");
    begin(kube::Method::kPost, "/api/v1/namespaces/team/configmaps", config_map("late"));
    slow_->let(1);
    settle();
    slow_->let(kAll);
    settle();
    EXPECT_EQ(stored("namespaces", ""), 4u);
    EXPECT_EQ(stored("configmaps", "team"), 0u) << "left behind where nobody can reach it";
}

}  // namespace
}  // namespace muster::apiserver::overlap_test
