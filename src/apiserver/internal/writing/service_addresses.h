#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/objects/field_errors.h"
#include "apiserver/objects/service_range.h"
#include "store/store.h"

namespace muster::apiserver {

/// Cluster IPs of services, from one range.
class ServiceAddresses {
  public:
    explicit ServiceAddresses(ServiceRange range) : range_(range) {}

    /// The address for a request in progress: no other request gets it before this one ends. By
    /// then it belongs to a committed service or is free again.
    class Claim {
      public:
        Claim() = default;
        Claim(Claim&& other) noexcept = default;
        Claim& operator=(Claim&&) = delete;
        ~Claim() {
            if (all_ != nullptr) all_->erase(address_);
        }

      private:
        friend class ServiceAddresses;
        using All = std::shared_ptr<std::set<std::string, std::less<>>>;
        Claim(All all, std::string address) : all_(std::move(all)), address_(std::move(address)) {
            all_->insert(address_);
        }

        All all_;  // shared: a request may end after the server
        std::string address_;
    };

    /// Fills spec.clusterIP and clusterIPs of a new service.
    [[nodiscard]] Claim assign(json::object& service, FieldErrors& field_errors);
    /// Follows the committed services.
    void observe(const store::StoreChange& change);

  private:
    /// An address that is neither a service's nor claimed.
    std::optional<std::string> next_free();
    bool is_taken(std::string_view address) const;

    const ServiceRange range_;
    Claim::All claimed_ = std::make_shared<std::set<std::string, std::less<>>>();
    std::map<std::string, store::StoreKey, std::less<>> holders_;
    std::uint32_t next_ = 1;
};

}  // namespace muster::apiserver
