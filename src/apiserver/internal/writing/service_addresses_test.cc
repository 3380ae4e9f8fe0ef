#include "apiserver/internal/writing/service_addresses.h"

#include <gmock/gmock.h>

#include <list>

namespace muster::apiserver::service_addresses_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(ServiceAddresses, AreFreeAgainWhenTheirRequestHasEnded) {
    ServiceAddresses addresses(*ServiceRange::parse("10.0.0.0/29"));
    std::list<ServiceAddresses::Claim> claims;
    for (int i = 1; i <= 6; ++i) {
        json::object service;
        FieldErrors errors;
        claims.push_back(addresses.assign(service, errors));
        EXPECT_THAT(errors, IsEmpty());
        EXPECT_EQ(service.at("spec").at("clusterIP"), json::value(fmt::format("10.0.0.{}", i)));
    }
    // None is committed yet, and there is no other.
    json::object service;
    FieldErrors errors;
    const ServiceAddresses::Claim none = addresses.assign(service, errors);
    ASSERT_EQ(errors.size(), 1);
    EXPECT_THAT(errors.front().message, HasSubstr("range is full"));
    claims.erase(std::next(claims.begin(), 2));
    errors.clear();
    const ServiceAddresses::Claim freed = addresses.assign(service, errors);
    EXPECT_THAT(errors, IsEmpty());
    EXPECT_EQ(service.at("spec").at("clusterIP"), "10.0.0.3");
}

}  // namespace
}  // namespace muster::apiserver::service_addresses_test
