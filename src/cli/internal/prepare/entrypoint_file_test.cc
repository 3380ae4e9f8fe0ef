#include "cli/internal/prepare/entrypoint_file.h"

#include <gmock/gmock.h>

namespace muster::cli::entrypoint_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(EntrypointFile, TextsAndLists) {
    const auto known = read_entrypoints(
        "pytorch/pytorch: python -m train\n"
        "\"registry:5000/a:1\": [sh, -c, \"echo a b\"]\n"
        "nginx: 'sh -c \"sleep 1\"'\n",
        "e.yaml");
    ASSERT_TRUE(known) << known.error().message();
    EXPECT_THAT(*known->of("pytorch/pytorch:2.1"), ElementsAre("python", "-m", "train"));
    EXPECT_THAT(*known->of("registry:5000/a:1"), ElementsAre("sh", "-c", "echo a b"));
    EXPECT_THAT(*known->of("docker.io/library/nginx"), ElementsAre("sh", "-c", "sleep 1"));
}

TEST(EntrypointFile, WhatIsWrongIsToldWithItsPlace) {
    const struct {
        const char* text;
        const char* wanted;
    } kCases[] = {
        {"- a\n", "e.yaml: this is not a map of images to commands"},
        {"a: b\nc: 1\n", "e.yaml:2:4: c: the command is neither a text nor a list of words"},
        {"a: [b, 2]\n", "a word of the command is not a text"},
        {"a: 'sh \"'\n", "a quote in it is not closed"},
        {"a: [b\n", "e.yaml:"},
    };
    for (const auto& [text, wanted] : kCases) {
        const auto known = read_entrypoints(text, "e.yaml");
        ASSERT_FALSE(known) << text;
        EXPECT_THAT(known.error().message(), HasSubstr(wanted));
    }
}

}  // namespace
}  // namespace muster::cli::entrypoint_file_test
