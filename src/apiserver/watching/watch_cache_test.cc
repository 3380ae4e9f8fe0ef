#include "apiserver/watching/watch_cache.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "apiserver/objects/text_fields.h"
#include "apiserver/watching/visit_in_turns.h"
#include "base/test_loop.h"
#include "base/time/loop_watch.h"
#include "kube/transport/transport_names.h"

namespace muster::apiserver::watch_cache_test {
namespace {

ResourceDef config_maps() {
    ResourceDef def;
    def.type = kube::types::kConfigMaps;
    return def;
}

/// Watches of a cache in a loop whose turns are measured.
class WatchCacheTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    ~WatchCacheTest() override {
        cache_->end_all_watches();
        await(tasks_.stop());
        watcher_.reset();
        cache_.reset();
    }

    void begin(store::HistoryLimit history) {
        cache_ = std::make_unique<WatchCache>(context.get_executor(), clock, rng_, tasks_,
                                              WatchOptions{.history = history});
        cache_->start_at(0, 0);
        WatchQuery live;
        live.send_initial_events = false;
        watcher_ = cache_->watch(def_, *Selection::make(*def_, "default", "k=x", ""), live);
        tasks_.spawn("reader", read());
    }
    /// `label`: of its new state; null: it is deleted.
    void change(std::string name, const char* label) {
        store::StoreChange change;
        change.key = {def_->storage_key(), "default", name};
        change.revision = ++revision_;
        const std::string version = std::to_string(revision_);
        const json::value object{{"metadata",
                                  {{"name", name},
                                   {"namespace", "default"},
                                   {"labels", {{"k", label == nullptr ? "x" : label}}},
                                   {"resourceVersion", version}}}};
        const auto tree = std::make_shared<const json::value>(object);
        (label == nullptr ? change.previous : change.object) = tree;
        change.text = store::ObjectText::of(tree);
        cache_->apply(change);
    }
    /// Does `work` in one turn of the loop, and has some more for the reader.
    void turn(std::function<void()> work) {
        const auto turns = [&]() -> Task<void> {
            co_await asio::post(asio::use_awaitable);
            work();
            for (int i = 0; i < 20; ++i) co_await asio::post(asio::use_awaitable);
            context.stop();
        };
        tasks_.spawn("turns", turns());
        context.restart();
        LoopWatch(clock).run(context);
        context.restart();
    }
    Task<void> read() {
        while (const std::optional<WatchedEvent> event = co_await watcher_->next_text()) {
            const bool changed = event->text != nullptr;
            seen_ += fmt::format(
                "{} {}@{} ", kube::event_type_name(event->type),
                changed ? name_of(*event->text) : "",
                changed ? string_at_path(event->text->text(), "metadata.resourceVersion") : "");
        }
        seen_ += "EOF";
    }
    std::string seen() { return std::exchange(seen_, {}); }

    /// The loop should do something else now.
    static void make_long() {
        while (!turn_is_long()) continue;
    }

    const DefPtr def_ = std::make_shared<const ResourceDef>(config_maps());
    Rng rng_{1};
    TaskGroup tasks_{context.get_executor()};
    std::unique_ptr<WatchCache> cache_;
    std::unique_ptr<Watcher> watcher_;
    store::Revision revision_ = 0;
    std::string seen_;
};

TEST_F(WatchCacheTest, WhatALongTurnLeavesIsReadFromTheHistory) {
    begin({});
    turn([&] { change("a", "x"); });
    EXPECT_EQ(seen(), "ADDED a@1 ");
    turn([&] {
        change("a", "x");
        make_long();
        change("a", "y");
        change("b", "y");
        change("b", "x");
    });
    EXPECT_EQ(seen(), "MODIFIED a@2 DELETED a@3 ADDED b@5 ");
    turn([&] { change("b", nullptr); });
    EXPECT_EQ(seen(), "DELETED b@6 ") << "it has caught up";
}

TEST_F(WatchCacheTest, ItEndsIfTheHistoryForgetsWhatItMissed) {
    begin({.changes = 2});
    turn([&] {
        make_long();
        change("a", "x");
        change("a", "x");
        change("b", "y");
    });
    EXPECT_EQ(seen(), "ERROR @ EOF");
}

TEST_F(WatchCacheTest, AVisitLetsOthersHaveTheirTurn) {
    begin({});
    for (const char* name : {"a", "b", "c", "d"}) change(name, "x");
    std::string seen;
    const auto visit = [&]() -> Task<void> {
        co_await visit_in_turns(*cache_, def_->storage_key(), "default",
                                [&](const NamespacedName& key, const CachedObject&) {
                                    seen += key.name;
                                    if (key.name != "b") return key.name != "c";
                                    make_long();
                                    asio::post(context, [&] {
                                        seen += " others ";
                                        change("b", nullptr);
                                    });
                                    return true;
                                });
        seen += " end";
    };
    turn([&] { tasks_.spawn("visit", visit()); });
    EXPECT_EQ(seen, "ab others c end") << "until it wants no more";
    seen.clear();
    const auto visit_all = [&]() -> Task<void> {
        for (const char* space : {"", "none"})
            co_await visit_in_turns(*cache_, def_->storage_key(), space,
                                    [&](const NamespacedName& key, const CachedObject&) {
                                        seen += key.name;
                                        return true;
                                    });
    };
    turn([&] { tasks_.spawn("visit of all", visit_all()); });
    EXPECT_EQ(seen, "acd");
}

}  // namespace
}  // namespace muster::apiserver::watch_cache_test
