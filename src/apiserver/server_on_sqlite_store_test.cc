#include <gmock/gmock.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json/parse.hpp>
#include <list>

#include "apiserver/api_server.h"
#include "apiserver/internal/types/crd.h"
#include "apiserver/objects/text_fields.h"
#include "apiserver/request_handler.h"
#include "apiserver/watching/watcher.h"
#include "base/async/side_thread.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/client/client.h"
#include "kube/values/document.h"
#include "store/power_cut_fixture.h"
#include "store/store_folder_fixture.h"

namespace muster::apiserver::server_on_sqlite_store_test {
namespace {

using ::testing::HasSubstr;

const kube::ResourceType& kMaps = kube::types::kConfigMaps;

class ServerOnSqliteStoreTest : public store::StoreFileTest {
  protected:
    ~ServerOnSqliteStoreTest() override { stop(); }

    void start() {
        auto opened = store::open_sqlite_store(folder_.path(), options_, context.get_executor());
        ASSERT_TRUE(opened) << opened.error().message();
        server_ = std::make_unique<ApiServer>(context.get_executor(), clock, rng_,
                                              *std::move(opened), server_options_);
        const Result<void> started = await(server_->start());
        ASSERT_TRUE(started) << started.error().message();
    }
    void stop() {
        if (server_ == nullptr) return;
        await(server_->stop());
        server_.reset();
    }
    void start_again() {
        stop();
        start();
    }

    auto create(std::string name) {
        kube::Client client(*server_);
        return await(client.create(kMaps, "default",
                                   json::object{{"apiVersion", "v1"},
                                                {"kind", "ConfigMap"},
                                                {"metadata", {{"name", std::move(name)}}}}));
    }
    /// As the watch of a client that is not in this process.
    static Task<void> read_as_remote(kube::WatchStream& stream, std::vector<std::string>& names) {
        auto& watcher = static_cast<Watcher&>(stream);
        while (const std::optional<WatchedEvent> event = co_await watcher.next_text())
            names.push_back(name_of(*event->text));
    }
    /// Writes as if the body had come as a long text; the status of the answer.
    Task<int> send_large(kube::Method method, std::string path, std::string body,
                         kube::ContentType type = kube::ContentType::kJson) {
        kube::Request request;
        request.method = method;
        request.path = path;
        request.content_type = type;
        request.body = std::make_shared<const json::value>(json::parse(body));
        if (type == kube::ContentType::kApplyPatch)
            request.query.emplace_back("fieldManager", "test");
        RequestHandler& handler = server_->handler();
        auto target = route(handler.registry(), path);
        const auto answer = co_await handler.call(*std::move(target), std::move(request),
                                                  {.body_bytes = kWorthSideThread});
        co_return answer ? answer->status : to_response(answer.error(), &kMaps, "").status;
    }
    int write_large(kube::Method method, std::string path, std::string body,
                    kube::ContentType type = kube::ContentType::kJson) {
        return await(send_large(method, std::move(path), std::move(body), type));
    }
    static std::string with_name(std::string text, std::string_view name) {
        return text.replace(text.find("NAME"), 4, name);
    }
    std::string revision() {
        kube::Client client(*server_);
        return await(client.list(kMaps, {}))->resource_version;
    }
    /// "ADDED a, DELETED b": so many events from the revision on.
    std::string watched(std::string from, int count) {
        kube::Client client(*server_);
        kube::WatchOptions options;
        options.resource_version = std::move(from);
        auto stream = await(client.watch(kMaps, options));
        std::string all;
        for (int i = 0; i < count; ++i) {
            auto event = await((*stream)->next());
            if (!event || !*event) return all + ", the end";
            all += fmt::format(
                "{}{}", all.empty() ? "" : ", ",
                std::string_view((*event)->object->at("metadata").at("name").as_string()));
        }
        return all;
    }

    Rng rng_{1};
    ApiServerOptions server_options_;
    std::unique_ptr<ApiServer> server_;
};

TEST_F(ServerOnSqliteStoreTest, GoesOnWhereItStopped) {
    start();
    ASSERT_TRUE(create("a"));
    const std::string seen = revision();
    ASSERT_TRUE(create("b"));
    const std::string last = revision();
    start_again();
    EXPECT_EQ(revision(), last) << "nothing is written by starting again";
    ASSERT_TRUE(create("c"));
    EXPECT_EQ(watched(seen, 2), "b, c");
    EXPECT_EQ(create("a").error().code(), Code::kAlreadyExists);
}

/// The store does not take a queued write back, so its place in a quota is not free either.
TEST_F(ServerOnSqliteStoreTest, AClientThatGoesAwayLeavesNoRoomInAQuotaThatItsWriteTakes) {
    start();
    kube::Client client(*server_);
    ASSERT_EQ(write_large(kube::Method::kPost, "/api/v1/namespaces/default/resourcequotas",
                          R"({"metadata":{"name":"q"},"spec":{"hard":{"count/configmaps":"3"}}})"),
              201);
    const std::string maps = "/api/v1/namespaces/default/configmaps";
    std::list<asio::cancellation_signal> clients;
    int ended = 0;
    for (int i = 0; i < 3; ++i) {
        asio::cancellation_signal& gone = clients.emplace_back();
        asio::co_spawn(context,
                       send_large(kube::Method::kPost, maps,
                                  fmt::format(R"({{"metadata":{{"name":"a{}"}}}})", i)),
                       asio::bind_cancellation_slot(
                           gone.slot(), [&ended](std::exception_ptr, int) { ++ended; }));
        // Its write is queued after a few handlers, and seen after the disk has it.
        context.restart();
        for (int handlers = 0; handlers < 4 * (i + 1); ++handlers) context.poll_one();
        gone.emit(asio::cancellation_type::terminal);
        context.poll_one();
    }
    int made = 0;
    for (int i = 0; i < 4; ++i) made += create(fmt::format("b{}", i)) ? 1 : 0;
    run_until([&] { return ended == 3; });
    EXPECT_EQ(await(client.list(kMaps, {}))->items.size(), 3u) << made << " of others";
}

TEST_F(ServerOnSqliteStoreTest, WhoWatchesIsToldBeforeTheWriterHasItsAnswer) {
    start();
    std::vector<std::unique_ptr<kube::WatchStream>> watches;
    std::vector<std::string> told;
    TaskGroup readers(context.get_executor());
    for (int i = 0; i < 32; ++i) {
        kube::Request request;
        request.path = "/api/v1/namespaces/default/configmaps";
        request.query.emplace_back("watch", "true");
        watches.push_back(*await(server_->watch(std::move(request))));
        readers.spawn("reader", read_as_remote(*watches.back(), told));
    }
    // After a long round, as on a slow machine, later changes would have to wait.
    ASSERT_TRUE(create("a"));
    EXPECT_EQ(told.size(), watches.size());
    await(readers.stop());
}

TEST_F(ServerOnSqliteStoreTest, LargeObjectsAreDecidedBesideTheLoop) {
    SideThread thread;
    server_options_ = {.manage_fields = true, .side_thread = &thread};
    start();
    const std::string maps = "/api/v1/namespaces/default/configmaps";
    const std::string one = maps + "/a";
    using enum kube::Method;
    EXPECT_EQ(write_large(kPost, maps, R"({"metadata":{"name":"a"},"data":{"k":"1"}})"), 201);
    EXPECT_EQ(write_large(kPost, maps, R"({"metadata":{"name":"a"}})"), 409);
    EXPECT_EQ(write_large(kPost, maps, R"({"metadata":{"name":"A"}})"), 422);
    EXPECT_EQ(write_large(kPost, maps, R"({"metadata":{"name":"b"},"data":1})"), 400);
    EXPECT_EQ(write_large(kPut, one, R"({"metadata":{"name":"a"},"data":{"k":"2"}})"), 200);
    EXPECT_EQ(write_large(kPatch, one, R"({"data":{"l":"3"}})", kube::ContentType::kMergePatch),
              200);
    const std::string applied =
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"NAME"},"data":{"m":"4"}})";
    EXPECT_EQ(write_large(kPatch, one, with_name(applied, "a"), kube::ContentType::kApplyPatch),
              200);
    EXPECT_EQ(
        write_large(kPatch, maps + "/c", with_name(applied, "c"), kube::ContentType::kApplyPatch),
        201);
    kube::Client client(*server_);
    EXPECT_EQ(kube::copy_of(**await(client.get(kMaps, "default", "a"))).at("data"),
              (json::value{{"k", "2"}, {"l", "3"}, {"m", "4"}}));
    stop();
}

/// The operator's pods are as large as the template of their job.
TEST_F(ServerOnSqliteStoreTest, LargeObjectsOfThisProcessAreDecidedBesideTheLoopToo) {
    std::vector<std::string> beside;
    SideThread thread({.current_work = {}, .ended = [&](const SideComputation& one) {
                           beside.emplace_back(one.name);
                       }});
    server_options_ = {.manage_fields = true, .side_thread = &thread};
    start();
    ASSERT_TRUE(create("small"));
    EXPECT_THAT(beside, ::testing::IsEmpty());
    kube::Client client(*server_);
    json::object large{{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", {{"name", "large"}}},
                       {"data", {{"k", std::string(kWorthSideThread, 'x')}}}};
    ASSERT_TRUE(await(client.create(kMaps, "default", std::move(large))));
    EXPECT_THAT(beside, ::testing::IsSupersetOf({"decode a new object", "complete a new object",
                                                 "check a new object"}));
    stop();
}

TEST_F(ServerOnSqliteStoreTest, WhatAppearsWhileALargeObjectIsDecidedCounts) {
    SideThread thread;
    server_options_ = {.side_thread = &thread};
    start();
    const std::string maps = "/api/v1/namespaces/default/configmaps";
    const std::string text = R"({"metadata":{"name":"a"},"data":{"k":"1"}})";
    ASSERT_EQ(write_large(kube::Method::kPost, maps, text), 201);
    // All begin with the same state; each is decided again when it has lost.
    int answered = 0;
    for (int i = 0; i < 5; ++i)
        asio::co_spawn(context,
                       send_large(kube::Method::kPatch, maps + "/a",
                                  fmt::format(R"({{"data":{{"n{}":"1"}}}})", i),
                                  kube::ContentType::kMergePatch),
                       [&](std::exception_ptr, int status) {
                           EXPECT_EQ(status, 200);
                           ++answered;
                       });
    run_until([&] { return answered == 5; });
    kube::Client client(*server_);
    EXPECT_EQ((*await(client.get(kMaps, "default", "a")))->at("data").as_object().size(), 6);
    stop();
}

/// A definition that shares most of its schema with the others.
json::object definition_of(int number) {
    std::string properties;
    for (int i = 0; i < 50; ++i)
        properties += fmt::format(R"({}"p{}":{{"type":"string","maxLength":{}}})",
                                  i == 0 ? "" : ",", i, i == number ? 1000 : i);
    return json::parse(fmt::format(
                           R"({{"metadata":{{"name":"k{0}s.ex.org","uid":"{0}"}},"spec":{{
            "conversion":{{"strategy":"None"}},"group":"ex.org","scope":"Namespaced","names":{{"plural":"k{0}s","singular":"k{0}","kind":"K{0}","listKind":"K{0}List"}},
            "versions":[{{"name":"v1","served":true,"storage":true,"schema":{{
            "openAPIV3Schema":{{"type":"object","properties":{{{1}}}}}}}}}]}}}})",
                           number, properties))
        .as_object();
}

TEST_F(ServerOnSqliteStoreTest, DefinitionsAreReadBesideTheLoopThatServesOthers) {
    SideThread thread;
    ReadDefinition read;
    bool done = false;
    asio::co_spawn(context,
                   thread.run("test",
                              [strategy = crd_strategy(read), mine = definition_of(1)] {
                                  std::size_t problems = 0;
                                  for (int i = 0; i < 50; ++i) {
                                      FieldErrors wrong;
                                      strategy.validate(mine, wrong);
                                      problems += wrong.size();
                                  }
                                  return problems;
                              }),
                   [&](std::exception_ptr, std::size_t problems) {
                       EXPECT_EQ(problems, 0u);
                       done = true;
                   });
    settle();
    const json::object another = definition_of(2);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(definitions_of(another, read).size(), 1u);
    run_until([&] { return done; });
}

TEST_F(ServerOnSqliteStoreTest, WhatItCantKeepIsRefusedAndReadsGoOn) {
    log::set_sink([](log::Level, std::string_view) {});
    store::BreakingDisk disk(1);
    options_.vfs = disk.name();
    start();
    ASSERT_TRUE(create("a"));
    EXPECT_FALSE(server_->handler().write_failure());
    disk.fail_after(1, store::BreakingDisk::Fault::kFull);
    const auto refused = create("b");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kUnavailable);
    EXPECT_THAT(refused.error().message(), HasSubstr("free some space there"));
    ASSERT_TRUE(server_->handler().write_failure());
    kube::Client client(*server_);
    EXPECT_EQ(await(client.list(kMaps, {}))->items.size(), 1u);
    stop();
    log::set_sink({});
}

}  // namespace
}  // namespace muster::apiserver::server_on_sqlite_store_test
