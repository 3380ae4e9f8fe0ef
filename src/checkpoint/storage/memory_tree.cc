#include "checkpoint/storage/memory_tree.h"

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <utility>

#include "base/check.h"
#include "base/rng.h"
#include "checkpoint/storage/storage_failure.h"
#include "checkpoint/storage/storage_path.h"

namespace muster::checkpoint {
namespace {

/// What a disk writes as a whole.
constexpr std::size_t kSector = 512;

/// What a power loss leaves of what is not certain.
class Chance {
  public:
    explicit Chance(std::uint64_t seed) : seed_(seed), rng_(seed) {}

    bool keeps() { return seed_ == 1 || (seed_ != 0 && rng_.chance(0.5)); }

    std::vector<std::byte> content(const MemoryFile& file) {
        if (!file.dirty || seed_ == 0) return file.durable;
        if (seed_ == 1) return file.now;
        std::vector<std::byte> left = file.now;
        switch (rng_.below(5)) {
            case 0:
                return file.durable;
            case 1:
                return left;
            case 2:
                left.resize(rng_.below(left.size() + 1));
                return left;
            case 3:
                std::ranges::fill(left, std::byte{0});
                return left;
            default:
                for (std::size_t at = 0; at < left.size(); at += kSector)
                    if (!keeps()) put_back(left, file.durable, at);
                return left;
        }
    }

  private:
    static void put_back(std::vector<std::byte>& left, const std::vector<std::byte>& durable,
                         std::size_t at) {
        for (std::size_t i = at; i < std::min(at + kSector, left.size()); ++i)
            left[i] = i < durable.size() ? durable[i] : std::byte{0};
    }

    std::uint64_t seed_;
    Rng rng_;
};

}  // namespace

bool MemoryTree::Change::touches(Id directory) const {
    return std::ranges::any_of(
        names, [&](const Renamed& one) { return one.place.directory == directory; });
}

bool MemoryTree::Change::touches(const Place& place) const {
    return std::ranges::any_of(names, [&](const Renamed& one) { return one.place == place; });
}

MemoryTree::MemoryTree() { nodes_[kRoot]; }

Result<MemoryTree::Id> MemoryTree::find(const char* doing, std::string_view path) const {
    TRY(const auto parts, parts_of(path));
    Id id = kRoot;
    for (const std::string_view part : parts) {
        if (!is_directory(id)) return storage_failure(doing, path, ENOTDIR);
        const auto next = at({.directory = id, .name = std::string(part)});
        if (!next) return storage_failure(doing, path, ENOENT);
        id = *next;
    }
    return id;
}

Result<MemoryTree::Place> MemoryTree::place_of(const char* doing, std::string_view path) const {
    TRY(const auto parts, parts_of(path));
    if (parts.empty()) return Error(Code::kInvalid, std::string(doing) + ": it is the root");
    TRY(const Id directory, find(doing, directory_of(path)));
    if (!is_directory(directory)) return storage_failure(doing, path, ENOTDIR);
    return Place{.directory = directory, .name = std::string(parts.back())};
}

std::optional<MemoryTree::Id> MemoryTree::at(const Place& place) const {
    const Names& names = names_in(place.directory);
    const auto found = names.find(place.name);
    return found == names.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t MemoryTree::bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [id, node] : nodes_)
        for (const auto& [name, inner] : node.now)
            if (!is_directory(inner)) sum += file(inner)->now.size();
    return sum;
}

MemoryTree::Id MemoryTree::new_file() {
    nodes_[next_].file = std::make_shared<MemoryFile>();
    return next_++;
}

MemoryTree::Id MemoryTree::new_directory() {
    nodes_[next_];
    return next_++;
}

void MemoryTree::change(std::vector<Renamed> names) {
    Change made{.names = std::move(names), .unsynced = {}};
    for (const Renamed& one : made.names) {
        CHECK(at(one.place) == one.before, "a change knows what it changes");
        Names& now = nodes_.at(one.place.directory).now;
        if (one.after)
            now[one.place.name] = *one.after;
        else
            now.erase(one.place.name);
        made.unsynced.insert(one.place.directory);
    }
    pending_.push_back(std::move(made));
}

void MemoryTree::remove_name(const Place& place) {
    const auto id = at(place);
    if (!id) return;
    const Names inner = names_in(*id);
    for (const auto& [name, unused] : inner) remove_name({.directory = *id, .name = name});
    change({{.place = place, .before = id, .after = std::nullopt}});
}

/// By a name that both change, or a directory that the later one removes after it was emptied.
bool MemoryTree::needs(const Change& later, const Change& earlier) const {
    return std::ranges::any_of(later.names, [&](const Renamed& one) {
        if (earlier.touches(one.place)) return true;
        return one.before && is_directory(*one.before) && earlier.touches(*one.before) &&
               std::ranges::none_of(
                   later.names, [&](const Renamed& other) { return other.after == one.before; });
    });
}

void MemoryTree::make_certain(std::size_t change) {
    // A journal would bring with it what it needs.
    std::vector<std::size_t> certain = {change};
    for (std::size_t i = change; i-- > 0;)
        if (std::ranges::any_of(
                certain, [&](std::size_t later) { return needs(pending_[later], pending_[i]); }))
            certain.push_back(i);
    for (const std::size_t i : certain | std::views::reverse) apply(pending_[i], nodes_);
    for (const std::size_t i : certain)
        pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
}

void MemoryTree::sync_names(Id directory) {
    for (Change& change : pending_) change.unsynced.erase(directory);
    for (;;) {
        const auto done = std::ranges::find_if(
            pending_, [](const Change& change) { return change.unsynced.empty(); });
        if (done == pending_.end()) break;
        make_certain(static_cast<std::size_t>(done - pending_.begin()));
    }
}

void MemoryTree::apply(const Change& change, std::map<Id, Node>& nodes) {
    for (const Renamed& one : change.names) {
        Names& durable = nodes.at(one.place.directory).durable;
        if (one.after)
            durable[one.place.name] = *one.after;
        else
            durable.erase(one.place.name);
    }
}

/// Whether a directory would be in itself: it was moved out of the other one first, and that is lost.
bool MemoryTree::would_be_impossible(const Change& change) const {
    return std::ranges::any_of(change.names, [&](const Renamed& one) {
        if (!one.after || !is_directory(*one.after)) return false;
        std::set<Id> within = {*one.after};
        for (bool grows = true; grows;) {
            grows = false;
            for (const Id id : std::set(within))
                for (const auto& [name, inner] : nodes_.at(id).durable)
                    grows |= within.insert(inner).second;
        }
        return within.contains(one.place.directory);
    });
}

MemoryTree MemoryTree::after_power_loss(std::uint64_t seed) const {
    Chance chance(seed);
    MemoryTree left = *this;
    std::vector<Change> lost;
    for (const Change& change : pending_) {
        const bool needs_lost = std::ranges::any_of(
            lost, [&](const Change& earlier) { return needs(change, earlier); });
        if (!chance.keeps() || needs_lost || left.would_be_impossible(change))
            lost.push_back(change);
        else
            apply(change, left.nodes_);
    }
    left.pending_.clear();
    for (auto& [id, node] : left.nodes_) node.now = node.durable;
    left.forget_the_unreachable();
    for (auto& [id, node] : left.nodes_) {
        if (node.file == nullptr) continue;
        const auto content = chance.content(*node.file);
        node.file =
            std::make_shared<MemoryFile>(MemoryFile{.now = content,
                                                    .durable = content,
                                                    .dirty = false,
                                                    .modified_unix = node.file->modified_unix});
    }
    return left;
}

void MemoryTree::forget_the_unreachable() {
    std::set<Id> reached;
    std::vector<Id> next = {kRoot};
    while (!next.empty()) {
        const Id id = next.back();
        next.pop_back();
        if (!reached.insert(id).second) continue;
        for (const auto& [name, inner] : nodes_.at(id).now) next.push_back(inner);
    }
    std::erase_if(nodes_, [&](const auto& node) { return !reached.contains(node.first); });
}

}  // namespace muster::checkpoint
