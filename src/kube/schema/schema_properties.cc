#include "kube/schema/schema_properties.h"

#include <algorithm>
#include <cstring>

namespace muster::kube {
namespace {

/// Reading the hashes of more fields takes longer than comparing names at half of them, a quarter,
/// and so on.
constexpr std::size_t kMostScanned = 128;

/// Length, first and last bytes: nearly always enough to distinguish the names of one structure.
std::uint32_t hash_of(std::string_view name) {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    const std::size_t bytes = std::min(name.size(), sizeof(first));
    std::memcpy(&first, name.data(), bytes);
    std::memcpy(&last, name.data() + name.size() - bytes, bytes);
    const std::uint64_t mixed = (first + 31 * last + name.size()) * 0x9e3779b97f4a7c15;
    return static_cast<std::uint32_t>(mixed >> 32);
}

}  // namespace

SchemaProperties::SchemaProperties(std::vector<Entry> entries) : entries_(std::move(entries)) {
    std::ranges::sort(entries_, {}, &Entry::first);
    hashes_.reserve(entries_.size());
    for (const Entry& entry : entries_) hashes_.push_back(hash_of(entry.first));
}

std::pair<SchemaProperties::const_iterator, bool> SchemaProperties::emplace(
    std::string_view name, std::shared_ptr<const Schema> schema) {
    const auto place = place_of(name);
    if (place != end() && place->first == name) return {place, false};
    hashes_.insert(hashes_.begin() + (place - begin()), hash_of(name));
    return {entries_.emplace(place, std::string(name), std::move(schema)), true};
}

void SchemaProperties::insert_or_assign(std::string_view name,
                                        std::shared_ptr<const Schema> schema) {
    const auto [entry, fresh] = emplace(name, schema);
    if (!fresh) entries_[static_cast<std::size_t>(entry - begin())].second = std::move(schema);
}

SchemaProperties::const_iterator SchemaProperties::place_of(std::string_view name) const {
    return std::ranges::lower_bound(entries_, name, {},
                                    [](const Entry& e) -> std::string_view { return e.first; });
}

SchemaProperties::const_iterator SchemaProperties::find(std::string_view name) const {
    if (hashes_.size() > kMostScanned) {
        const auto place = place_of(name);
        return place != end() && place->first == name ? place : end();
    }
    const std::uint32_t hash = hash_of(name);
    for (std::size_t i = 0; i < hashes_.size(); ++i)
        if (hashes_[i] == hash && entries_[i].first == name)
            return begin() + static_cast<std::ptrdiff_t>(i);
    return end();
}

}  // namespace muster::kube
