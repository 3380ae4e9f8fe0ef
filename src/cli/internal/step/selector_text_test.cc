#include "cli/internal/step/selector_text.h"

#include <gmock/gmock.h>

namespace muster::cli::selector_text_test {
namespace {

using testing::HasSubstr;

TEST(SelectorText, WhatItSelects) {
    using Labels = std::map<std::string, std::string>;
    using OneOf = std::map<std::string, std::vector<std::string>>;
    struct Case {
        const char* text;
        Labels labels;
        OneOf one_of;
    };
    const Case cases[] = {
        {"", {}, {}},
        {" ;, \n", {}, {}},
        {"cpu=true,train=true", {{"cpu", "true"}, {"train", "true"}}, {}},
        {"cpu=true;train=true\norg=public\tx=y",
         {{"cpu", "true"}, {"train", "true"}, {"org", "public"}, {"x", "y"}},
         {}},
        {" cpu = true , gpu-type = V100 ", {{"cpu", "true"}, {"gpu-type", "V100"}}, {}},
        {"org=a,b", {}, {{"org", {"a", "b"}}}},
        {"org=a,b,train=true", {{"train", "true"}}, {{"org", {"a", "b"}}}},
        {"cpu=true,cpu=false", {{"cpu", "false"}}, {}},
        {"node-role.kubernetes.io/gpu=", {{"node-role.kubernetes.io/gpu", ""}}, {}},
    };
    for (const Case& one : cases) {
        const Result<NodeChoice> choice = read_selector_text(one.text);
        ASSERT_TRUE(choice) << one.text << ": " << choice.error().message();
        EXPECT_EQ(*choice, (NodeChoice{one.labels, one.one_of})) << one.text;
    }
}

TEST(SelectorText, WhatIsWrongIsNamed) {
    struct Case {
        const char* text;
        const char* message;
    };
    const Case cases[] = {
        {"cpu", "\"cpu\" is no key=value"},
        {"cpu=true;train", "\"train\" is no key=value"},
        {"=x", "\"=x\" has a key that no node can have"},
        {"a b=x", "\"a b=x\" has a key that no node can have"},
        {"cpu=a b", "\"cpu=a b\" has a value that no node can have"},
        {"cpu=a=b", "\"cpu=a=b\" has a value that no node can have"},
    };
    for (const Case& one : cases) {
        const Result<NodeChoice> choice = read_selector_text(one.text);
        ASSERT_FALSE(choice) << one.text;
        EXPECT_THAT(choice.error().message(), HasSubstr(one.message));
    }
}

}  // namespace
}  // namespace muster::cli::selector_text_test
