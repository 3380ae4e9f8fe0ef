#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/authentication/authentication.h"
#include "apiserver/internal/types/builtin_types.h"
#include "apiserver/internal/types/crd.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/resources/access_types.h"
#include "apiserver/resources/registry.h"
#include "apiserver/watching/watch_cache.h"
#include "base/test_loop.h"

namespace muster::apiserver {

/// Roles and bindings in a cache, the built-in types, and bob, who is a user like any other.
class AuthorizationFixture : public ::testing::Test, protected SimulatedLoop {
  protected:
    AuthorizationFixture() {
        for (DefPtr& def : builtin_types(read_)) registry_.add(std::move(def));
    }
    ~AuthorizationFixture() override { await(tasks_.stop()); }

    /// All objects of one resource.
    void load(const kube::ResourceType& type, std::vector<json::value> objects) {
        std::vector<store::StoredObject> stored;
        for (json::value& each : objects) {
            const auto value = std::make_shared<const json::value>(std::move(each));
            const json::object& object = value->get_object();
            stored.push_back({{type.qualified(), std::string(namespace_of(object)),
                               std::string(name_of(object))},
                              1,
                              store::ObjectText::of(value)});
        }
        cache_.load(type.qualified(), std::move(stored));
    }

    Rng rng_{1};
    TaskGroup tasks_{context.get_executor()};
    WatchCache cache_{context.get_executor(), clock, rng_, tasks_, {}};
    ReadDefinition read_;
    Registry registry_;
    User bob_{"bob", {}, {"system:authenticated"}};
};

}  // namespace muster::apiserver
