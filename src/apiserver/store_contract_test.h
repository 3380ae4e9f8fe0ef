#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "apiserver/store.h"
#include "base/test_loop.h"

namespace muster::apiserver {

/// What every Store must do. A test program names a world with `TestLoop& loop()` and
/// `Store& store()` (empty), and instantiates the suite for it.
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
    EXPECT_EQ(changed->object->at("revision").template to_number<Revision>(), start + 3);
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

REGISTER_TYPED_TEST_SUITE_P(StoreContract, EveryCommittedChangeGetsTheNextRevisionOfOneCounter,
                            ACreateOfATakenKeyChangesNothing,
                            AWriteWithAnotherRevisionIsAConflictAndChangesNothing,
                            WhatIsNotThereIsNotFound, ListsAreInKeyOrderOfOneResourceAndNamespace,
                            TheObserverSeesEachChangeOnceInOrderAndCanReadIt);

}  // namespace muster::apiserver
