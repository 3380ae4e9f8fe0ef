#include "kube/schema/schema_properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/schema/schema.h"

namespace muster::kube::schema_properties_test {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names(const SchemaProperties& properties) {
    std::vector<std::string> out;
    for (const auto& [name, schema] : properties) out.push_back(name);
    return out;
}

TEST(SchemaProperties, AreInTheOrderOfTheirNames) {
    const auto text = std::make_shared<const Schema>();
    SchemaProperties properties{{"b", text}, {"", text}, {"aa", text}};
    properties.emplace("ab", text);
    EXPECT_THAT(names(properties), ElementsAre("", "aa", "ab", "b"));
}

TEST(SchemaProperties, AreFoundByTheirWholeName) {
    SchemaProperties properties;
    std::vector<std::string> made;
    // Equal in length, first and last eight bytes: the hash can't tell these apart.
    for (char c = 'a'; c <= 'z'; ++c) made.push_back(std::string("beginning") + c + "theEnding");
    for (int i = 0; i < 300; ++i) made.push_back("field" + std::to_string(i));
    for (const std::string& name : made) {
        auto schema = std::make_shared<Schema>();
        schema->description = name;
        EXPECT_TRUE(properties.emplace(name, std::move(schema)).second);
    }
    EXPECT_EQ(properties.size(), made.size());
    for (const std::string& name : made) {
        ASSERT_TRUE(properties.contains(name)) << name;
        EXPECT_EQ(properties.find(name)->second->description, name);
    }
    EXPECT_FALSE(properties.contains("beginningAtheEnding"));
    EXPECT_FALSE(properties.contains(""));
    EXPECT_FALSE(properties.contains("field300"));
}

TEST(SchemaProperties, AreReplacedOnlyWhenThatIsMeant) {
    auto first = std::make_shared<const Schema>();
    auto second = std::make_shared<const Schema>();
    SchemaProperties properties{{"x", first}};
    EXPECT_FALSE(properties.emplace("x", second).second);
    EXPECT_EQ(properties.find("x")->second, first);
    properties.insert_or_assign("x", second);
    properties.insert_or_assign("w", first);
    EXPECT_EQ(properties.find("x")->second, second);
    EXPECT_EQ(properties.find("w")->second, first);
    EXPECT_EQ(properties.size(), 2u);
}

}  // namespace
}  // namespace muster::kube::schema_properties_test
