#include "runtime/internal/files/expected_file.h"

#include <gtest/gtest.h>

#include "kube/objects/pod_contract.h"

namespace muster::runtime::expected_file_test {
namespace {

kube::Pod pod_that_says(const std::string& text) {
    kube::Pod pod;
    pod.metadata.annotations[std::string(kube::kExpectedFileAnnotation)] = text;
    pod.spec.volumes.resize(2);
    pod.spec.volumes[0].name = "calls";
    pod.spec.volumes[0].empty_dir.emplace();
    pod.spec.volumes[1].name = "host";
    pod.spec.volumes[1].host_path.emplace();
    return pod;
}

TEST(ExpectedFile, IsInAnEmptyDirOfThePod) {
    const auto expected = expected_file(pod_that_says("calls/called NoCall nothing was called"));
    ASSERT_TRUE(expected);
    EXPECT_EQ(expected->path, "calls/called");
    EXPECT_EQ(expected->reason, "NoCall");
    EXPECT_EQ(expected->message, "nothing was called");
    EXPECT_FALSE(expected_file(kube::Pod{}));
}

TEST(ExpectedFile, WhatCouldLeadElsewhereIsIgnored) {
    for (const char* text :
         {"", "calls/called", "calls/called NoCall", "calls NoCall said", "/calls NoCall said",
          "calls/../x NoCall said", "../calls/x NoCall said", "calls/a/b NoCall said",
          "host/called NoCall said", "none/called NoCall said", "calls/called  said"})
        EXPECT_FALSE(expected_file(pod_that_says(text))) << text;
}

}  // namespace
}  // namespace muster::runtime::expected_file_test
