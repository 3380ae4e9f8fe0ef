#include "runtime/native_resources.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace muster::runtime::native_resources_test {
namespace {

namespace fs = std::filesystem;

TEST(NativeResources, AreTheDiskAndHugePagesOfEachSize) {
    std::string pattern = testing::TempDir() + "muster-resources-XXXXXX";
    const fs::path root = ::mkdtemp(pattern.data());
    const auto pages = [&](const std::string& size, const std::string& number) {
        const fs::path folder = root / "sys/kernel/mm/hugepages" / size;
        fs::create_directories(folder);
        std::ofstream(folder / "nr_hugepages") << number << "\n";
    };
    pages("hugepages-2048kB", "16");
    pages("hugepages-1048576kB", "0");
    pages("hugepages-odd", "1");
    NativeResources found = find_native_resources(root, root);
    EXPECT_GT(found.at("ephemeral-storage").ceil_units(), 0);
    found.erase("ephemeral-storage");
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found.at("hugepages-2Mi").to_string(), "32Mi");
    EXPECT_TRUE(found.at("hugepages-1Gi").is_zero());
    fs::remove_all(root);
}

TEST(NativeResources, WhatCantBeReadIsLeftOut) {
    EXPECT_TRUE(find_native_resources("/nowhere", "/nowhere").empty());
}

}  // namespace
}  // namespace muster::runtime::native_resources_test
