#include "kube/values/document.h"

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/memory_resource.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>

#include "kube/values/equality.h"

namespace muster::kube::document_test {
namespace {

json::value sample() {
    json::object many;
    for (int i = 0; i < 40; ++i)
        many.emplace("a key of its own " + std::to_string(i), json::array{i, "short", nullptr});
    return {{"text", "a string that is too long to be kept inline"},
            {"empty", json::object()},
            {"nested", {{"list", json::array{json::array(), 1.5, true}}}},
            {"many", std::move(many)}};
}

TEST(Document, IsADeepCopy) {
    json::value original = sample();
    const Document copy(original);
    EXPECT_EQ(copy.value(), original);
    original.as_object()["text"] = "changed";
    EXPECT_EQ(copy.value(), sample());
}

TEST(Document, GrowsBeyondItsRoom) {
    Document document(sample());
    for (int i = 0; i < 1000; ++i)
        document.object()["many"].as_object()["added " + std::to_string(i)] = std::string(100, 'x');
    EXPECT_EQ(document.object().at("many").as_object().size(), 1040u);
    EXPECT_EQ(document.object().at("many").at("added 999").as_string(), std::string(100, 'x'));
    document.object()["big"] = std::string(100'000, 'y');
    EXPECT_EQ(document.object().at("big").as_string().size(), 100'000u);
}

TEST(Document, TakesOverValuesOfOtherMemory) {
    Document document = Document::empty_object(16);
    {
        Document other(sample());
        json::value elsewhere = sample();
        document.object()["moved"] = std::move(other.value());
        document.object()["copied"] = std::move(elsewhere);
    }
    EXPECT_EQ(document.object().at("moved"), sample());
    EXPECT_EQ(document.object().at("copied"), sample());
}

TEST(Document, SharesWhatOutlivesIt) {
    ObjectPtr shared;
    std::weak_ptr<const json::value> watched;
    {
        Document document(sample(), 100);
        document.object()["late"] = "added before it was shared";
        shared = std::move(document).share();
        watched = shared;
    }
    EXPECT_TRUE(equal(shared->at("nested"), sample().at("nested")));
    EXPECT_EQ(shared->at("late"), "added before it was shared");
    shared.reset();
    EXPECT_TRUE(watched.expired());
}

TEST(Document, CopiesOfPartsLiveOnTheirOwn) {
    json::value part;
    {
        const ObjectPtr shared = Document(sample()).share();
        part = shared->at("many");
    }
    EXPECT_EQ(part, sample().at("many"));
}

TEST(Document, TreeBytesAreWhatACopyTakes) {
    // A resource that counts; alignment may add what lies between.
    class Counting final : public json::memory_resource {
      public:
        std::size_t bytes = 0;

      private:
        void* do_allocate(std::size_t size, std::size_t) override {
            bytes += size;
            return ::operator new(size);
        }
        void do_deallocate(void* place, std::size_t, std::size_t) override {
            ::operator delete(place);
        }
        bool do_is_equal(const json::memory_resource& other) const noexcept override {
            return this == &other;
        }
    };
    for (const json::value& value :
         {sample(), json::value(17), json::value("short"), json::value(std::string(15, 'x')),
          json::value(std::string(31, 'x')), json::value(json::array{1, "two", json::object()})}) {
        Counting counting;
        const json::value copy(value, &counting);
        EXPECT_GE(tree_bytes(value), counting.bytes) << value;
        EXPECT_LE(tree_bytes(value), counting.bytes + counting.bytes / 4) << value;
    }
}

TEST(CopyOf, ACopyOutlivesTheSharedTree) {
    Document document = Document::empty_object(64);
    document.object()["text"] = std::string(200, 'x');
    ObjectPtr shared = std::move(document).share();
    const json::value copy = copy_of(*shared);
    shared.reset();
    EXPECT_EQ(copy.at("text").as_string(), std::string(200, 'x'));
}

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
TEST(CopyOfDeathTest, ACopyInASharedTreesMemoryIsFoundOut) {
    Document document = Document::empty_object(64);
    document.object()["text"] = std::string(200, 'x');
    const ObjectPtr shared = std::move(document).share();
    EXPECT_DEATH({ const json::value copy(*shared); }, "use copy_of");
}
#endif

}  // namespace
}  // namespace muster::kube::document_test
