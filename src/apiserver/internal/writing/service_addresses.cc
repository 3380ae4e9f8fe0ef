#include "apiserver/internal/writing/service_addresses.h"

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::uint32_t kBase = (10u << 24) | (96u << 16);
constexpr std::uint32_t kSize = 1u << 20;

std::string dotted(std::uint32_t address) {
    return fmt::format("{}.{}.{}.{}", address >> 24, (address >> 16) & 255, (address >> 8) & 255,
                       address & 255);
}

std::optional<std::uint32_t> parse_address(std::string_view text) {
    std::uint32_t address = 0;
    for (int part = 0; part < 4; ++part) {
        std::uint32_t number = 0;
        std::size_t digits = 0;
        while (digits < text.size() && digits < 3 && text[digits] >= '0' && text[digits] <= '9')
            number = number * 10 + static_cast<std::uint32_t>(text[digits++] - '0');
        if (digits == 0 || number > 255) return std::nullopt;
        text.remove_prefix(digits);
        address = (address << 8) | number;
        if (part == 3) break;
        if (text.empty() || text.front() != '.') return std::nullopt;
        text.remove_prefix(1);
    }
    return text.empty() ? std::optional(address) : std::nullopt;
}

}  // namespace

ServiceAddresses::Claim ServiceAddresses::assign(json::object& service, FieldErrors& field_errors) {
    json::object& spec = ensure_object(service, "spec");
    if (string_at(spec, "type") == "ExternalName") return {};
    std::string wanted(string_at(spec, "clusterIP"));
    if (wanted.empty()) {
        if (holders_.size() + 2 >= kSize) {
            field_errors.push_back(invalid_value("spec.clusterIPs", json::value(nullptr),
                                                 "failed to allocate IP: range is full"));
            return {};
        }
        do {
            wanted = dotted(kBase + next_);
            next_ = next_ % (kSize - 2) + 1;
        } while (is_taken(wanted));
        spec["clusterIP"] = wanted;
    } else if (wanted != "None") {
        const auto address = parse_address(wanted);
        if (!address) {
            field_errors.push_back(invalid_value("spec.clusterIPs[0]", json::value(wanted),
                                                 "must be a valid IP address, (e.g. 10.9.8.7 or "
                                                 "2001:db8::ffff)"));
            return {};
        }
        if (*address < kBase || *address >= kBase + kSize) {
            field_errors.push_back(
                invalid_value("spec.clusterIPs", json::value(json::array{wanted}),
                              "failed to allocate IP " + wanted +
                                  ": the provided IP is not in the valid range. The "
                                  "range of valid IPs is 10.96.0.0/12"));
            return {};
        }
        if (is_taken(wanted)) {
            field_errors.push_back(invalid_value(
                "spec.clusterIPs", json::value(json::array{wanted}),
                "failed to allocate IP " + wanted + ": provided IP is already allocated"));
            return {};
        }
    }
    spec["clusterIPs"] = json::array{wanted};
    if (wanted == "None") return {};
    return {claimed_, std::move(wanted)};
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
