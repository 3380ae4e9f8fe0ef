#include "apiserver/internal/conversions/shared_conversions.h"

#include <gmock/gmock.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "apiserver/internal/conversions/conversion_review.h"
#include "base/async/signal.h"
#include "base/test_loop.h"

namespace muster::apiserver::shared_conversions_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

DefPtr version(std::string name, std::shared_ptr<const WebhookConversion> by) {
    auto def = std::make_shared<ResourceDef>();
    def->type = {.group = "g", .version = std::move(name), .plural = "ks", .kind = "K"};
    def->webhook_conversion = std::move(by);
    return def;
}

store::ObjectTextPtr object(std::string_view name) {
    return std::make_shared<const store::ObjectText>(
        fmt::format(R"({{"apiVersion":"g/v2","kind":"K","metadata":{{"name":"{}"}}}})", name));
}

/// A webhook that answers when the test lets it.
class SharedConversionsTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    ~SharedConversionsTest() override { await(tasks_.stop()); }

    struct Reader {
        std::optional<StatusResult<store::ObjectTextPtr>> seen = {};
        asio::cancellation_signal leave = {};
    };
    std::shared_ptr<Reader> read(const store::ObjectTextPtr& what, const DefPtr& def) {
        auto reader = std::make_shared<Reader>();
        asio::co_spawn(context, show(reader, def, what),
                       asio::bind_cancellation_slot(reader->leave.slot(), asio::detached));
        settle();
        return reader;
    }
    std::shared_ptr<Reader> read(const store::ObjectTextPtr& what) { return read(what, v1_); }
    void answer() {
        held_ = false;
        let_go_.notify_all();
        settle();
    }
    static std::string text(const std::shared_ptr<Reader>& reader) {
        if (!reader->seen) return "waits";
        if (!*reader->seen) return std::string((*reader->seen).error().error.message());
        return std::string((**reader->seen)->text());
    }

    Task<StatusResult<store::ObjectTextPtr>> ask(DefPtr def, store::ObjectTextPtr what) {
        asked_.emplace_back(def->type.version);
        try {
            while (held_) co_await let_go_.wait();
        } catch (...) {
            ++cancelled_;
            throw;
        }
        if (refuse_) co_return internal_error("refused");
        if (fault_) throw std::runtime_error("a fault");
        co_return std::make_shared<const store::ObjectText>(
            fmt::format("converted {}", what->text().size()));
    }
    Task<void> show(std::shared_ptr<Reader> reader, DefPtr def, store::ObjectTextPtr what) {
        reader->seen = co_await shared_->show(std::move(def), std::move(what));
    }
    void limit(SharedConversions::Limits limits) { shared_.emplace(tasks_, ask_, limits); }

    TaskGroup tasks_{context.get_executor()};
    Signal let_go_{context.get_executor()};
    bool held_ = true;
    bool refuse_ = false;
    bool fault_ = false;
    int cancelled_ = 0;
    std::vector<std::string> asked_;
    std::shared_ptr<const WebhookConversion> by_ = std::make_shared<const WebhookConversion>();
    DefPtr v1_ = version("v1", by_);
    SharedConversions::Ask ask_ = [this](DefPtr def, store::ObjectTextPtr what) {
        return ask(std::move(def), std::move(what));
    };
    std::optional<SharedConversions> shared_{std::in_place, tasks_, ask_};
};

TEST_F(SharedConversionsTest, AChangeIsAskedAboutOnceForAllThatShowIt) {
    const auto change = object("a");
    std::vector<std::shared_ptr<Reader>> readers;
    for (int i = 0; i < 100; ++i) readers.push_back(read(change));
    EXPECT_THAT(asked_, ElementsAre("v1"));
    EXPECT_EQ(text(readers.back()), "waits");
    answer();
    for (const auto& reader : readers) EXPECT_THAT(text(reader), HasSubstr("converted"));
    // They share it.
    EXPECT_EQ(**readers.front()->seen, **readers.back()->seen);
    EXPECT_EQ(text(read(change)), text(readers.front()));
    EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(SharedConversionsTest, OtherChangesAndVersionsAreAskedAboutThemselves) {
    held_ = false;
    read(object("a"));
    read(object("a"));
    const auto change = object("b");
    read(change);
    read(change, version("v3", by_));
    read(change, version("v3", std::make_shared<const WebhookConversion>()));
    EXPECT_THAT(asked_, ElementsAre("v1", "v1", "v1", "v3", "v3"));
}

TEST_F(SharedConversionsTest, WhatHasTheVersionIsNotAskedAbout) {
    const auto change = object("a");
    const auto reader = read(change, version("v2", by_));
    EXPECT_EQ(**reader->seen, change);
    EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(SharedConversionsTest, TheOneThatLeavesEndsNoQuestionOfOthers) {
    const auto change = object("a");
    const auto first = read(change);
    const auto second = read(change);
    first->leave.emit(asio::cancellation_type::terminal);
    settle();
    EXPECT_EQ(cancelled_, 0);
    answer();
    EXPECT_THAT(text(second), HasSubstr("converted"));
    EXPECT_EQ(text(first), "waits");
    EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(SharedConversionsTest, AQuestionEndsWithTheLastThatWaits) {
    const auto change = object("a");
    const auto first = read(change);
    const auto second = read(change);
    for (const auto& reader : {first, second})
        reader->leave.emit(asio::cancellation_type::terminal);
    settle();
    EXPECT_EQ(cancelled_, 1);
    EXPECT_EQ(tasks_.size(), 0U);
    const auto third = read(change);
    answer();
    EXPECT_THAT(text(third), HasSubstr("converted"));
    EXPECT_EQ(asked_.size(), 2U);
}

TEST_F(SharedConversionsTest, AFailureIsOfThoseThatWaitedForIt) {
    const auto change = object("a");
    refuse_ = true;
    const auto first = read(change);
    const auto second = read(change);
    answer();
    EXPECT_EQ(text(first), "refused");
    EXPECT_EQ(text(second), "refused");
    EXPECT_EQ(asked_.size(), 1U);
    refuse_ = false;
    EXPECT_THAT(text(read(change)), HasSubstr("converted"));
    EXPECT_EQ(asked_.size(), 2U);
}

TEST_F(SharedConversionsTest, AFaultAndAStopAreAnswersToo) {
    fault_ = true;
    const auto first = read(object("a"));
    answer();
    EXPECT_THAT(text(first), HasSubstr("the server ended it"));
    fault_ = false;
    held_ = true;
    const auto second = read(object("b"));
    await(tasks_.stop());
    settle();
    EXPECT_THAT(text(second), HasSubstr("the server ended it"));
    EXPECT_THAT(text(read(object("c"))), HasSubstr("the server ended it"));
}

TEST_F(SharedConversionsTest, OnlyTheLatestAnswersAreKept) {
    held_ = false;
    limit({.answers = 2, .bytes = 1000});
    const auto a = object("a");
    const auto b = object("b");
    const auto c = object("c");
    for (const auto& each : {a, b, c, b, c}) read(each);
    EXPECT_EQ(asked_.size(), 3U);
    read(a);
    EXPECT_EQ(asked_.size(), 4U);
    const auto large = object(std::string(2000, 'x'));
    read(large);
    read(large);
    EXPECT_EQ(asked_.size(), 6U);
}

}  // namespace
}  // namespace muster::apiserver::shared_conversions_test
