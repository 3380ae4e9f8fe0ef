#include "apiserver/internal/writing/service_addresses.h"

#include <algorithm>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

/// `address` is one.
Cause refused_address(std::string_view address, std::string_view why) {
    return {"FieldValueInvalid",
            fmt::format("Invalid value: []string{{\"{0}\"}}: failed to allocate IP {0}: {1}",
                        address, why),
            "spec.clusterIPs"};
}

}  // namespace

ServiceAddresses::Claim ServiceAddresses::assign(json::object& service, FieldErrors& field_errors) {
    json::object& spec = ensure_object(service, "spec");
    if (string_at(spec, "type") == "ExternalName") return {};
    std::string wanted(string_at(spec, "clusterIP"));
    if (wanted.empty()) {
        std::optional<std::string> free = next_free();
        if (!free) {
            field_errors.push_back(invalid_value("spec.clusterIPs", json::value(nullptr),
                                                 "failed to allocate IP: range is full"));
            return {};
        }
        wanted = *std::move(free);
        spec["clusterIP"] = wanted;
    } else if (wanted != "None") {
        const auto address = parse_ipv4(wanted);
        if (!address) {
            field_errors.push_back(invalid_value("spec.clusterIPs[0]", json::value(wanted),
                                                 "must be a valid IP address, (e.g. 10.9.8.7 or "
                                                 "2001:db8::ffff)"));
            return {};
        }
        if (!range_.contains(*address)) {
            field_errors.push_back(
                refused_address(wanted, "the provided network does not match the current range"));
            return {};
        }
        if (is_taken(wanted)) {
            field_errors.push_back(refused_address(wanted, "provided IP is already allocated"));
            return {};
        }
    }
    spec["clusterIPs"] = json::array{wanted};
    if (wanted == "None") return {};
    return {claimed_, std::move(wanted)};
}

std::optional<std::string> ServiceAddresses::next_free() {
    // The first and the last address of a network are no host's.
    const std::uint32_t hosts = range_.size - 2;
    const auto claimed = std::ranges::count_if(
        *claimed_, [this](const std::string& address) { return !holders_.contains(address); });
    if (holders_.size() + static_cast<std::size_t>(claimed) >= hosts) return std::nullopt;
    for (std::uint32_t tried = 0; tried < hosts; ++tried) {
        std::string address = ipv4_text(range_.base + next_);
        next_ = next_ % hosts + 1;
        if (!is_taken(address)) return address;
    }
    return std::nullopt;
}

bool ServiceAddresses::is_taken(std::string_view address) const {
    return holders_.contains(address) || claimed_->contains(address);
}

void ServiceAddresses::observe(const store::StoreChange& change) {
    const kube::ObjectPtr& state = change.object != nullptr ? change.object : change.previous;
    const json::object* spec = object_at(state->get_object(), "spec");
    const std::string_view address = spec == nullptr ? "" : string_at(*spec, "clusterIP");
    if (address.empty() || address == "None") return;
    if (change.object != nullptr)
        holders_.insert_or_assign(std::string(address), change.key);
    else if (auto it = holders_.find(address); it != holders_.end() && it->second == change.key)
        holders_.erase(it);
}

}  // namespace muster::apiserver
