#include "apiserver/internal/volumes/waiting_claims.h"

#include <gmock/gmock.h>

namespace muster::apiserver::waiting_claims_test {
namespace {

using testing::ElementsAre;

NamespacedName key(const std::string& name) { return {"n", name}; }

ClaimFacts claim(std::int64_t amount, std::optional<std::string> class_name = "c",
                 const std::string& selector = "") {
    ClaimFacts facts;
    facts.mode = "Filesystem";
    facts.class_name = std::move(class_name);
    facts.access_modes = {"ReadWriteOnce"};
    facts.request = kube::Quantity::from_units(amount);
    facts.selector = *kube::LabelSelector::parse(selector);
    return facts;
}

VolumeFacts volume(std::int64_t amount, const std::string& class_name = "c") {
    VolumeFacts facts;
    facts.name = "v";
    facts.class_name = class_name;
    facts.mode = "Filesystem";
    facts.access_modes = {"ReadOnlyMany", "ReadWriteOnce"};
    facts.capacity = kube::Quantity::from_units(amount);
    return facts;
}

TEST(WaitingClaims, AVolumeGoesToOneThatItSuits) {
    WaitingClaims waiting;
    waiting.put(key("large"), claim(100));
    waiting.put(key("other-class"), claim(1, "d"));
    EXPECT_EQ(waiting.taker_of(volume(50), ""), std::nullopt);
    waiting.put(key("small"), claim(50));
    EXPECT_EQ(waiting.taker_of(volume(50), ""), key("small"));
    EXPECT_EQ(waiting.taker_of(volume(49), ""), std::nullopt);
    waiting.erase(key("small"));
    EXPECT_EQ(waiting.taker_of(volume(50), ""), std::nullopt);
    EXPECT_EQ(waiting.taker_of(volume(100), ""), key("large"));
    EXPECT_EQ(waiting.taker_of(volume(1, "d"), ""), key("other-class"));
}

TEST(WaitingClaims, ModesAndLabelsCount) {
    WaitingClaims waiting;
    ClaimFacts many = claim(1);
    many.access_modes = {"ReadWriteMany"};
    waiting.put(key("many"), many);
    waiting.put(key("fast"), claim(1, "c", "disk=fast"));
    EXPECT_EQ(waiting.taker_of(volume(9), ""), std::nullopt);
    VolumeFacts fast = volume(9);
    fast.labels = {{"disk", "fast"}};
    EXPECT_EQ(waiting.taker_of(fast, ""), key("fast"));
}

TEST(WaitingClaims, WhoNamesNoClassWaitsForTheDefault) {
    WaitingClaims waiting;
    waiting.put(key("any"), claim(1, std::nullopt));
    waiting.put(key("none"), claim(1, ""));
    EXPECT_EQ(waiting.taker_of(volume(9), "d"), std::nullopt);
    EXPECT_EQ(waiting.taker_of(volume(9), "c"), key("any"));
    EXPECT_EQ(waiting.taker_of(volume(9, ""), "c"), key("none"));
    EXPECT_THAT(waiting.of_class("c", true), ElementsAre(key("any")));
    EXPECT_THAT(waiting.of_class("c", false), ElementsAre());
}

TEST(WaitingClaims, WhoNamesAVolumeGoesFirst) {
    WaitingClaims waiting;
    waiting.put(key("a"), claim(1));
    ClaimFacts named = claim(1000, "else");
    named.volume_name = "v";
    waiting.put(key("named"), named);
    EXPECT_EQ(waiting.taker_of(volume(9), ""), key("named"));
    waiting.put(key("named"), claim(1, "d"));
    EXPECT_EQ(waiting.taker_of(volume(9), ""), key("a"));
    waiting.erase(key("a"));
    waiting.erase(key("named"));
    waiting.erase(key("named"));
    EXPECT_EQ(waiting.taker_of(volume(9), ""), std::nullopt);
}

}  // namespace
}  // namespace muster::apiserver::waiting_claims_test
