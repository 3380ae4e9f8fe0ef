#include "net/name_lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>

#include "base/async/task_fault.h"
#include "base/test_loop.h"

namespace muster::net::name_lookup_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class NameLookupTest : public testing::Test, public RealLoop {
  protected:
    ~NameLookupTest() override { await(names_.stop()); }
    NameLookup names_{context.get_executor()};
};

TEST_F(NameLookupTest, AnAddressIsItsOwn) {
    for (const char* host : {"10.0.0.1", "fd00::1", "localhost"})
        EXPECT_THAT(await(names_.addresses(host)).value(), ElementsAre(host));
}

// "127.1" is what the system's resolver reads without asking anybody.
TEST_F(NameLookupTest, OthersAreAskedFor) {
    EXPECT_THAT(await(names_.addresses("127.1")).value(), ElementsAre("127.0.0.1"));
    EXPECT_THAT(await(names_.addresses("127.1")).value(), ElementsAre("127.0.0.1"));
}

// As in a program that loads no library.
TEST_F(NameLookupTest, FilesAreReadBesideTheLoop) {
    EXPECT_EQ(NameLookup::resolver_here(), NameLookup::Resolver::kSystems);
    NameLookup files(context.get_executor(), NameLookup::Resolver::kFiles);
    const auto found = await(files.addresses(std::string(100, 'x')));
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code(), Code::kUnavailable);
    EXPECT_THAT(await(files.addresses("10.0.0.1")).value(), ElementsAre("10.0.0.1"));
    await(files.stop());
}

TEST_F(NameLookupTest, WhatCantBeANameIsNotFound) {
    const auto found = await(names_.addresses(std::string(100, 'x')));
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code(), Code::kUnavailable);
    EXPECT_THAT(found.error().message(), HasSubstr("xxx"));
}

TEST_F(NameLookupTest, WhoWaitsIsToldOfAFaultOfOurs) {
    const TaskFault fault("name lookup");
    const auto found = await(names_.addresses("127.1"));
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code(), Code::kInternal);
    EXPECT_EQ(fault.hits(), 1u);
}

TEST_F(NameLookupTest, AStopEndsWhatWaits) {
    std::optional<Code> code;
    asio::co_spawn(context, names_.addresses("127.1"),
                   [&](std::exception_ptr thrown, Result<std::vector<std::string>> found) {
                       if (!thrown && !found) code = found.error().code();
                   });
    // The loop begins both in this order, so that the resolver's thread can't answer in between.
    await(names_.stop());
    settle();
    EXPECT_EQ(code, Code::kCancelled);
    EXPECT_EQ(await(names_.addresses("127.1")).error().code(), Code::kCancelled);
}

}  // namespace
}  // namespace muster::net::name_lookup_test
