#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::checkpoint {

struct MemoryFile {
    std::vector<std::byte> now;
    std::vector<std::byte> durable;  ///< since the last sync
    bool dirty = true;               ///< whether that may be something else than `now`
    std::int64_t modified_unix = 0;
};

/// A tree of files that knows what of it a power loss would leave, for tests. Less is promised than any file system does:
///
/// - A change of names (a file made, removed, renamed, two exchanged) happens as a whole or not at all, but for certain only
///   once each directory that it touches was synced. Of several changes, any that don't need each other may be lost.
/// - Of what was written since the last sync of a file, anything may be there: all, nothing, a part, parts of 512
///   bytes with old content or zeros between them, the length alone.
///
/// Errors are those of a directory (storage_failure()). Thread: one at a time.
class MemoryTree {
  public:
    using Id = std::uint64_t;  ///< of a file or a directory, whatever its name
    using Names = std::map<std::string, Id>;
    static constexpr Id kRoot = 0;

    struct Place {
        Id directory = kRoot;
        std::string name;

        friend auto operator<=>(const Place&, const Place&) = default;
    };
    /// One name, before and after a change; nullopt: it is not there.
    struct Renamed {
        Place place;
        std::optional<Id> before;
        std::optional<Id> after;
    };

    MemoryTree();

    /// `doing` and `shown` are for messages.
    Result<Id> find(const char* doing, std::string_view path) const;
    /// Where the last part of the path is, or would be. kInvalid: the root.
    Result<Place> place_of(const char* doing, std::string_view path) const;
    std::optional<Id> at(const Place& place) const;
    /// Null: it is a directory.
    std::shared_ptr<MemoryFile> file(Id id) const { return nodes_.at(id).file; }
    bool is_directory(Id id) const { return file(id) == nullptr; }
    const Names& names_in(Id directory) const { return nodes_.at(directory).now; }
    std::uint64_t bytes() const;  ///< of all files that have a name

    Id new_file();
    Id new_directory();
    /// At once, as a whole. What is there must be what `before` says.
    void change(std::vector<Renamed> names);
    void remove_name(const Place& place);  ///< of a directory, with what is in it, one by one

    void sync_names(Id directory);
    /// The tree as it may be found. Seed 0: without all that is not certain; 1: with all of it; others: by chance.
    MemoryTree after_power_loss(std::uint64_t seed) const;

  private:
    struct Node {
        std::shared_ptr<MemoryFile> file;
        Names now;
        Names durable;
    };
    struct Change {
        std::vector<Renamed> names;
        std::set<Id> unsynced;  ///< directories

        bool touches(Id directory) const;
        bool touches(const Place& place) const;
    };

    bool needs(const Change& later, const Change& earlier) const;
    bool would_be_impossible(const Change& change) const;
    void make_certain(std::size_t change);
    static void apply(const Change& change, std::map<Id, Node>& nodes);
    void forget_the_unreachable();

    std::map<Id, Node> nodes_;
    std::vector<Change> pending_;  ///< not certain yet, the oldest first
    Id next_ = kRoot + 1;
};

}  // namespace muster::checkpoint
