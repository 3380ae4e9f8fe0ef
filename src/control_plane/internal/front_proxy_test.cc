#include "control_plane/internal/front_proxy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace muster::control_plane::front_proxy_test {
namespace {

namespace fs = std::filesystem;

const WallTime kStart{std::chrono::sys_days{std::chrono::year{2026} / 3 / 1}};

class FrontProxyTest : public ::testing::Test {
  protected:
    FrontProxyTest() {
        std::string name = (fs::temp_directory_path() / "muster-front-proxy.XXXXXX").string();
        root_ = ::mkdtemp(name.data());
        auto home = StateHome::take(root_ / "state");
        EXPECT_TRUE(home) << home.error().message();
        if (home) home_.emplace(*std::move(home));
    }
    ~FrontProxyTest() override { fs::remove_all(root_); }

    FrontProxy load(WallTime now = kStart) {
        auto loaded = load_front_proxy(*home_, now);
        EXPECT_TRUE(loaded) << loaded.error().message();
        if (!loaded) return {};
        EXPECT_TRUE(*net::key_belongs(loaded->client.certificate, loaded->client.key));
        EXPECT_TRUE(*net::is_signed_by(loaded->client.certificate, loaded->ca_pem));
        return *std::move(loaded);
    }

    fs::path root_;
    std::optional<StateHome> home_;
};

TEST_F(FrontProxyTest, ItStaysUntilItsCertificateEnds) {
    const FrontProxy first = load();
    EXPECT_EQ(load(kStart + std::chrono::hours(24 * 600)).client.key, first.client.key);
    const FrontProxy next = load(kStart + std::chrono::hours(24 * 710));
    EXPECT_NE(next.client.key, first.client.key);
    EXPECT_NE(next.ca_pem, first.ca_pem);
}

TEST_F(FrontProxyTest, TheKeyOfTheAuthorityIsKeptNowhere) {
    load();
    std::vector<std::string> keys;
    for (const auto& entry : fs::recursive_directory_iterator(root_))
        if (entry.path().extension() == ".key") keys.push_back(entry.path().filename());
    EXPECT_EQ(keys, std::vector<std::string>{"front-proxy-client.key"});
}

TEST_F(FrontProxyTest, WhatCantBeUsedIsMadeAnew) {
    for (const char* file :
         {"front-proxy-ca.crt", "front-proxy-client.crt", "front-proxy-client.key"}) {
        const FrontProxy before = load();
        ASSERT_TRUE(home_->write(file, "nonsense"));
        EXPECT_NE(load().client.key, before.client.key) << file;
    }
}

}  // namespace
}  // namespace muster::control_plane::front_proxy_test
