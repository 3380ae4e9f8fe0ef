#include "control_plane/internal/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace muster::control_plane::credentials_test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

const net::ServerNames kNames{.addresses = {"127.0.0.1"}, .dns_names = {"localhost"}};
const WallTime kNow{std::chrono::sys_days{std::chrono::year{2026} / 3 / 1}};

class CredentialsTest : public ::testing::Test {
  protected:
    CredentialsTest() {
        std::string name = (fs::temp_directory_path() / "muster-credentials.XXXXXX").string();
        root_ = ::mkdtemp(name.data());
        auto home = StateHome::take(root_ / "state");
        EXPECT_TRUE(home) << home.error().message();
        if (home) home_.emplace(*std::move(home));
    }
    ~CredentialsTest() override { fs::remove_all(root_); }

    Credentials load(WallTime now = kNow) {
        auto loaded = load_credentials(*home_, kNames, now);
        EXPECT_TRUE(loaded) << loaded.error().message();
        return loaded ? *std::move(loaded) : Credentials{};
    }
    std::string text(const std::string& name) { return home_->read(name)->value_or(""); }
    void put(const std::string& name, const std::string& text) {
        EXPECT_TRUE(home_->write(name, text));
    }
    static void expect_usable(const Credentials& all) {
        for (const net::KeyPair* pair : {&all.server, &all.admin}) {
            EXPECT_TRUE(*net::key_belongs(pair->certificate, pair->key));
            EXPECT_TRUE(*net::is_signed_by(pair->certificate, all.ca.certificate));
        }
    }

    fs::path root_;
    std::optional<StateHome> home_;
};

TEST_F(CredentialsTest, TheyStayUntilTheirCertificatesEnd) {
    const Credentials first = load();
    expect_usable(first);
    const Credentials again = load(kNow + 24h * 600);
    EXPECT_EQ(again.server.certificate, first.server.certificate);
    const Credentials renewed = load(kNow + 24h * 710);
    expect_usable(renewed);
    EXPECT_NE(renewed.server.certificate, first.server.certificate);
    EXPECT_NE(renewed.admin.certificate, first.admin.certificate);
    EXPECT_EQ(renewed.ca.certificate, first.ca.certificate);
    EXPECT_EQ(renewed.admin_token, first.admin_token);
}

/// Of the files that a start writes, the first ones are new and the others old.
TEST_F(CredentialsTest, AKillBetweenAnyTwoFilesOfARenewalLeavesAStartThatSucceeds) {
    load();
    const std::vector<std::string> files{"server.key", "server.crt", "admin.key", "admin.crt"};
    std::vector<std::string> old;
    for (const std::string& file : files) old.push_back(text(file));
    const WallTime later = kNow + 24h * 710;
    load(later);
    std::vector<std::string> fresh;
    for (const std::string& file : files) fresh.push_back(text(file));
    for (std::size_t killed = 1; killed < files.size(); ++killed) {
        for (std::size_t i = 0; i < files.size(); ++i)
            put(files[i], i < killed ? fresh[i] : old[i]);
        expect_usable(load(later));
    }
}

/// A kill after a new CA was written, before what it signs.
TEST_F(CredentialsTest, WhatAnotherCaSignedIsSignedAgain) {
    load();
    fs::remove(home_->path() / "ca.crt");
    const std::vector<std::string> files{"server.key", "server.crt", "admin.key", "admin.crt"};
    std::vector<std::string> old;
    for (const std::string& file : files) old.push_back(text(file));
    const Credentials other = load();
    expect_usable(other);
    for (std::size_t i = 0; i < files.size(); ++i) put(files[i], old[i]);
    const Credentials again = load();
    expect_usable(again);
    EXPECT_EQ(again.ca.certificate, other.ca.certificate);
}

TEST_F(CredentialsTest, ACaWhoseKeyIsAnothersIsNotReplaced) {
    load();
    const auto other = net::make_ca("other", {kNow - 1h, kNow + 24h});
    ASSERT_TRUE(other) << other.error().message();
    put("ca.key", other->key);
    const auto refused = load_credentials(*home_, kNames, kNow);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("is not the key of"));
}

}  // namespace
}  // namespace muster::control_plane::credentials_test
