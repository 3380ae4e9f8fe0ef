#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/json.hpp>
#include <map>

#include "base/rng.h"
#include "base/test_loop.h"
#include "store/store.h"

namespace muster::store {

/// What every Store must do. A test program names a world with `TestLoop& loop()` and
/// `Store& store()` (empty, and of a history of 5), and instantiates the suite for it.
template <class World>
class StoreContract : public ::testing::Test {
  protected:
    template <class T>
    T await(Task<T> task) {
        return world_.loop().await(std::move(task));
    }
    static StoreKey key(std::string name, std::string ns = "default",
                        std::string resource = "pods") {
        return {std::move(resource), std::move(ns), std::move(name)};
    }
    static Store::Make value(std::string text) {
        return [text](Revision revision) {
            return std::make_shared<const json::value>(
                json::object{{"text", text}, {"revision", revision}});
        };
    }
    static std::string text(const kube::ObjectPtr& object) {
        return object == nullptr ? "none" : std::string(object->at("text").as_string());
    }
    static std::string text(const ObjectTextPtr& object) {
        return text(object == nullptr ? nullptr : object->tree());
    }
    Result<StoredObject> create(StoreKey at, std::string content) {
        return await(store().create(std::move(at), value(std::move(content))));
    }
    Result<StoredObject> update(StoreKey at, Revision expected, std::string content) {
        return await(store().update(std::move(at), expected, value(std::move(content))));
    }
    Result<StoredObject> remove(StoreKey at, Revision expected) {
        return await(store().remove(std::move(at), expected, value("gone")));
    }
    std::string names(std::string resource, std::string ns, std::optional<StoreKey> after,
                      std::size_t limit) {
        auto found = await(store().list(std::move(resource), std::move(ns), after, limit));
        std::string all;
        for (const StoredObject& object : *found)
            all += (all.empty() ? "" : " ") + object.key.namespace_ + "/" + object.key.name;
        return all;
    }
    Store& store() { return world_.store(); }

    /// Begins a write without waiting for it; the answer appears later.
    using Answered = std::shared_ptr<std::optional<Result<StoredObject>>>;
    Answered begin(Task<Result<StoredObject>> write) {
        auto answered = std::make_shared<std::optional<Result<StoredObject>>>();
        asio::co_spawn(world_.loop().context, std::move(write),
                       [answered](std::exception_ptr thrown, Result<StoredObject> result) {
                           ASSERT_FALSE(thrown);
                           *answered = std::move(result);
                       });
        return answered;
    }
    void wait_for(const std::vector<Answered>& all) {
        world_.loop().run_until([&all] {
            return std::ranges::all_of(all, [](const Answered& one) { return one->has_value(); });
        });
    }
    static std::string outcome(const Result<StoredObject>& result) {
        return result ? fmt::format("revision {}", result->revision)
                      : std::string(to_string(result.error().code()));
    }

    World world_;
};

TYPED_TEST_SUITE_P(StoreContract);

TYPED_TEST_P(StoreContract, EveryCommittedChangeGetsTheNextRevisionOfOneCounter) {
    const Revision start = this->store().revision();
    const auto a = this->create(this->key("a"), "1");
    const auto b = this->create(this->key("b", "default", "services"), "1");
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->revision, start + 1);
    EXPECT_EQ(b->revision, start + 2);
    const auto changed = this->update(this->key("a"), a->revision, "2");
    ASSERT_TRUE(changed);
    EXPECT_EQ(changed->revision, start + 3);
    EXPECT_EQ(changed->object->tree()->at("revision").template to_number<Revision>(), start + 3);
    const auto gone = this->remove(this->key("a"), changed->revision);
    ASSERT_TRUE(gone);
    EXPECT_EQ(gone->revision, start + 4);
    EXPECT_EQ(this->store().revision(), start + 4);
}

TYPED_TEST_P(StoreContract, ACreateOfATakenKeyChangesNothing) {
    ASSERT_TRUE(this->create(this->key("a"), "1"));
    const Revision before = this->store().revision();
    const auto again = this->create(this->key("a"), "2");
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), Code::kAlreadyExists);
    EXPECT_EQ(this->store().revision(), before);
    EXPECT_EQ(this->text(this->await(this->store().get(this->key("a")))->object), "1");
}

TYPED_TEST_P(StoreContract, AWriteWithAnotherRevisionIsAConflictAndChangesNothing) {
    const auto made = this->create(this->key("a"), "1");
    ASSERT_TRUE(made);
    ASSERT_TRUE(this->update(this->key("a"), made->revision, "2"));
    const auto late = this->update(this->key("a"), made->revision, "3");
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), Code::kConflict);
    const auto removal = this->remove(this->key("a"), made->revision);
    ASSERT_FALSE(removal);
    EXPECT_EQ(removal.error().code(), Code::kConflict);
    EXPECT_EQ(this->text(this->await(this->store().get(this->key("a")))->object), "2");
}

TYPED_TEST_P(StoreContract, WhatIsNotThereIsNotFound) {
    EXPECT_EQ(this->await(this->store().get(this->key("a"))).error().code(), Code::kNotFound);
    EXPECT_EQ(this->update(this->key("a"), 1, "x").error().code(), Code::kNotFound);
    EXPECT_EQ(this->remove(this->key("a"), 1).error().code(), Code::kNotFound);
    const auto made = this->create(this->key("a"), "1");
    ASSERT_TRUE(this->remove(this->key("a"), made->revision));
    EXPECT_EQ(this->await(this->store().get(this->key("a"))).error().code(), Code::kNotFound);
    EXPECT_TRUE(this->create(this->key("a"), "2")) << "a removed key is free again";
}

TYPED_TEST_P(StoreContract, ListsAreInKeyOrderOfOneResourceAndNamespace) {
    for (const char* name : {"b", "a", "c"}) ASSERT_TRUE(this->create(this->key(name, "n2"), "x"));
    ASSERT_TRUE(this->create(this->key("z", "n1"), "x"));
    ASSERT_TRUE(this->create(this->key("y", "n3"), "x"));
    ASSERT_TRUE(this->create(this->key("q", "n2", "podsets"), "x"));
    EXPECT_EQ(this->names("pods", "", std::nullopt, 0), "n1/z n2/a n2/b n2/c n3/y");
    EXPECT_EQ(this->names("pods", "n2", std::nullopt, 0), "n2/a n2/b n2/c");
    EXPECT_EQ(this->names("pods", "", std::nullopt, 2), "n1/z n2/a");
    EXPECT_EQ(this->names("pods", "", this->key("a", "n2"), 2), "n2/b n2/c");
    EXPECT_EQ(this->names("pods", "n2", this->key("z", "n1"), 0), "n2/a n2/b n2/c");
    EXPECT_EQ(this->names("pods", "n2", this->key("bb", "n2"), 0), "n2/c")
        << "`after` need not exist";
    EXPECT_EQ(this->names("pods", "n2", this->key("c", "n2"), 0), "");
    EXPECT_EQ(this->names("secrets", "", std::nullopt, 0), "");
}

TYPED_TEST_P(StoreContract, TheObserverSeesEachChangeOnceInOrderAndCanReadIt) {
    std::vector<std::string> seen;
    this->store().observe([&](const StoreChange& change) {
        seen.push_back(fmt::format("{} {} {}", change.key.name, this->text(change.object),
                                   this->text(change.previous)));
        EXPECT_EQ(change.revision, this->store().revision());
    });
    const auto made = this->create(this->key("a"), "1");
    EXPECT_EQ(seen.size(), 1u) << "a write that has returned has been seen";
    ASSERT_FALSE(this->create(this->key("a"), "x"));
    const auto changed = this->update(this->key("a"), made->revision, "2");
    ASSERT_FALSE(this->update(this->key("a"), made->revision, "x"));
    ASSERT_TRUE(this->remove(this->key("a"), changed->revision));
    EXPECT_EQ(seen, (std::vector<std::string>{"a 1 none", "a 2 1", "a none gone"}));
}

TYPED_TEST_P(StoreContract, WritesThatAreBegunTogetherGoAsInTheOrderOfTheirBeginning) {
    std::vector<Revision> seen;
    this->store().observe([&](const StoreChange& change) { seen.push_back(change.revision); });
    Revision revision = this->store().revision();
    const Revision start = revision;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        Rng rng(seed);
        std::map<std::string, Revision> model;
        for (int round = 0; round < 30; ++round) {
            std::vector<typename TestFixture::Answered> answers;
            std::vector<std::string> expected;
            for (std::uint64_t left = 1 + rng.below(12); left > 0; --left) {
                const std::string name = fmt::format("{}-{}", seed, rng.below(5));
                const StoreKey at = this->key(name);
                auto known = model.find(name);
                const bool right = rng.chance(0.8);
                const Revision with =
                    known == model.end() ? revision : known->second - (right ? 0 : 1);
                const std::uint64_t kind = rng.below(3);
                const bool allowed =
                    kind == 0 ? known == model.end() : known != model.end() && right;
                if (kind == 0)
                    answers.push_back(this->begin(this->store().create(at, this->value("c"))));
                else if (kind == 1)
                    answers.push_back(
                        this->begin(this->store().update(at, with, this->value("u"))));
                else
                    answers.push_back(
                        this->begin(this->store().remove(at, with, this->value("r"))));
                if (allowed) {
                    expected.push_back(fmt::format("revision {}", ++revision));
                    if (kind == 2)
                        model.erase(name);
                    else
                        model[name] = revision;
                } else {
                    expected.emplace_back(to_string(kind == 0              ? Code::kAlreadyExists
                                                    : known == model.end() ? Code::kNotFound
                                                                           : Code::kConflict));
                }
            }
            this->wait_for(answers);
            for (std::size_t i = 0; i < answers.size(); ++i)
                ASSERT_EQ(this->outcome(**answers[i]), expected[i])
                    << "seed " << seed << ", round " << round << ", write " << i;
            ASSERT_EQ(this->store().revision(), revision);
        }
        for (std::uint64_t i = 0; i < 5; ++i) {
            const std::string name = fmt::format("{}-{}", seed, i);
            const auto found = this->await(this->store().get(this->key(name)));
            ASSERT_EQ(found.has_value(), model.contains(name)) << name;
            if (found) {
                EXPECT_EQ(found->revision, model[name]);
            }
        }
    }
    ASSERT_EQ(seen.size(), revision - start) << "each change once";
    for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], start + 1 + i);
}

TYPED_TEST_P(StoreContract, WhoLosesARaceFindsWhatItLostAgainst) {
    const auto made = this->create(this->key("a"), "1");
    const auto first =
        this->begin(this->store().update(this->key("a"), made->revision, this->value("2")));
    const auto late = this->update(this->key("a"), made->revision, "3");
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), Code::kConflict);
    EXPECT_EQ(this->text(this->await(this->store().get(this->key("a")))->object), "2");
    this->wait_for({first});
}

TYPED_TEST_P(StoreContract, SettledIsWhenWhatWasBegunHasBeenObserved) {
    std::size_t seen = 0;
    this->store().observe([&](const StoreChange&) { ++seen; });
    std::vector<typename TestFixture::Answered> all;
    for (const char* name : {"a", "b", "c"})
        all.push_back(this->begin(this->store().create(this->key(name), this->value("1"))));
    this->world_.loop().context.restart();
    this->world_.loop().context.poll_one();  // the first has begun
    this->await(this->store().settled());
    EXPECT_GE(seen, 1u);
    this->wait_for(all);
    this->await(this->store().settled());
    EXPECT_EQ(seen, 3u);
}

TYPED_TEST_P(StoreContract, HistoryIsTheNewestChangesWithTheStatesBefore) {
    EXPECT_EQ(this->store().history().floor, this->store().revision());
    const auto describe_all = [this] {
        const StoreHistory history = this->store().history();
        std::string all = fmt::format("after {}:", history.floor - this->store().revision() + 8);
        for (const StoreHistory::Entry& entry : history.changes)
            all += fmt::format(" {}{}<{}", entry.deleted ? "-" : "", this->text(entry.object),
                               this->text(entry.before));
        return all;
    };
    const auto a = this->create(this->key("a"), "1");
    const auto b = this->create(this->key("b"), "1");
    const auto changed = this->update(this->key("a"), a->revision, "2");
    ASSERT_TRUE(this->remove(this->key("b"), b->revision));
    EXPECT_EQ(this->store().history().changes.size(), 4u);
    const auto c = this->create(this->key("b"), "3");
    ASSERT_TRUE(this->update(this->key("a"), changed->revision, "4"));
    ASSERT_TRUE(this->remove(this->key("b"), c->revision));
    ASSERT_TRUE(this->create(this->key("c"), "5"));
    EXPECT_EQ(describe_all(), "after 3: -gone<1 3<none 4<2 -gone<3 5<none");
}

TYPED_TEST_P(StoreContract, AStoreThatStopsAnswersWhatWasBegunAndRefusesTheRest) {
    std::vector<typename TestFixture::Answered> begun;
    for (const char* name : {"a", "b"})
        begun.push_back(this->begin(this->store().create(this->key(name), this->value("1"))));
    this->wait_for({begun[0]});
    this->await(this->store().stop());
    this->wait_for(begun);
    EXPECT_TRUE(**begun[0]);
    EXPECT_TRUE(**begun[1]);
    const auto late = this->create(this->key("c"), "1");
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), Code::kUnavailable);
    EXPECT_FALSE(this->store().failure()) << "a stop is not a failure";
    EXPECT_EQ(this->names("pods", "", std::nullopt, 0), "default/a default/b");
    this->await(this->store().stop());
}

REGISTER_TYPED_TEST_SUITE_P(StoreContract, EveryCommittedChangeGetsTheNextRevisionOfOneCounter,
                            ACreateOfATakenKeyChangesNothing,
                            AWriteWithAnotherRevisionIsAConflictAndChangesNothing,
                            WhatIsNotThereIsNotFound, ListsAreInKeyOrderOfOneResourceAndNamespace,
                            TheObserverSeesEachChangeOnceInOrderAndCanReadIt,
                            WritesThatAreBegunTogetherGoAsInTheOrderOfTheirBeginning,
                            WhoLosesARaceFindsWhatItLostAgainst,
                            SettledIsWhenWhatWasBegunHasBeenObserved,
                            HistoryIsTheNewestChangesWithTheStatesBefore,
                            AStoreThatStopsAnswersWhatWasBegunAndRefusesTheRest);

}  // namespace muster::store
