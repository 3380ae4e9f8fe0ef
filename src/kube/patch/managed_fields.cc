#include "kube/patch/managed_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <map>
#include <tuple>

#include "kube/patch/owner_versions.h"
#include "kube/patch/structured_merge.h"
#include "kube/schema/schema.h"
#include "kube/values/equality.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"

namespace muster::kube {
namespace {

constexpr std::size_t kMaxUpdaters = 10;
constexpr std::string_view kAncient = "ancient-changes";
constexpr std::string_view kBeforeFirstApply = "before-first-apply";

bool applies(const json::object& entry) { return string_at(entry, "operation") == "Apply"; }

const json::object& fields_of(const json::object& entry) { return child(entry, "fieldsV1"); }

/// Nothing if it can't be read: then it owns nothing.
FieldSet set_of(const json::object& entry) {
    Result<FieldSet> set = FieldSet::from_json(fields_of(entry));
    return set ? *std::move(set) : FieldSet();
}

void put_set(json::object& entry, const FieldSet& set) {
    entry["fieldsV1"] = set.to_json(entry.storage());
}

json::object make_entry(const FieldOwner& who, std::string_view operation, json::object fields) {
    json::object entry(fields.storage());
    entry.reserve(7);
    entry.emplace("manager", who.name);
    entry.emplace("operation", operation);
    entry.emplace("apiVersion", who.api_version);
    if (!who.time.empty()) entry.emplace("time", who.time);
    entry.emplace("fieldsType", "FieldsV1");
    entry.emplace("fieldsV1", std::move(fields));
    if (!who.subresource.empty()) entry.emplace("subresource", who.subresource);
    return entry;
}

bool is_of(const json::object& entry, const FieldOwner& who, std::string_view operation) {
    return string_at(entry, "manager") == who.name && string_at(entry, "operation") == operation &&
           string_at(entry, "subresource") == who.subresource &&
           (operation == "Apply" || string_at(entry, "apiVersion") == who.api_version);
}

json::object* find_entry(json::array& entries, const FieldOwner& who, std::string_view operation) {
    for (json::value& entry : entries)
        if (is_of(entry.get_object(), who, operation)) return &entry.get_object();
    return nullptr;
}

/// Appliers first, then by age. Times are canonical, so comparing their texts is enough.
auto sort_key(const json::value& value) {
    const json::object& entry = value.get_object();
    return std::tuple(string_at(entry, "operation"), string_at(entry, "time"),
                      string_at(entry, "manager"), string_at(entry, "apiVersion"),
                      string_at(entry, "subresource"));
}

void sort_entries(json::array& entries) {
    if (!std::ranges::is_sorted(entries, {}, sort_key)) std::ranges::sort(entries, {}, sort_key);
}

void drop_empty(json::array& entries) {
    const auto owns_nothing = [](const json::value& entry) {
        return fields_of(entry.get_object()).empty();
    };
    if (std::ranges::none_of(entries, owns_nothing)) return;
    json::array kept(entries.storage());
    kept.reserve(entries.size());
    for (json::value& entry : entries)
        if (!owns_nothing(entry)) kept.push_back(std::move(entry));
    entries = std::move(kept);
}

void take_away(json::object& entry, const FieldSet& fields) {
    if (!fields.empty() && intersects(fields_of(entry), fields))
        put_set(entry, difference_of(set_of(entry), fields));
}

std::size_t count_updaters(const json::array& entries) {
    return static_cast<std::size_t>(std::ranges::count_if(
        entries, [](const json::value& entry) { return !applies(entry.get_object()); }));
}

/// Merges the oldest updaters of one version into one entry, until few enough are left.
void cap_updaters(json::array& entries) {
    std::size_t updaters = count_updaters(entries);
    if (updaters <= kMaxUpdaters) return;
    sort_entries(entries);
    json::array kept(entries.storage());
    struct Bucket {
        std::size_t place;           // of the first entry, in kept
        std::vector<FieldSet> sets;  // of all, once there are several
        std::string time;
    };
    std::map<std::string, Bucket> buckets;  // by version
    for (json::value& value : entries) {
        json::object& entry = value.get_object();
        if (updaters <= kMaxUpdaters || applies(entry)) {
            kept.push_back(std::move(value));
            continue;
        }
        const auto [bucket, first] = buckets.emplace(
            string_at(entry, "apiVersion"), Bucket{.place = kept.size(), .sets = {}, .time = {}});
        if (first) {
            kept.push_back(std::move(value));
            continue;
        }
        auto& [place, sets, time] = bucket->second;
        if (sets.empty()) sets.push_back(set_of(kept[place].get_object()));
        sets.push_back(set_of(entry));
        time = string_at(entry, "time");
        --updaters;
    }
    for (auto& [version, bucket] : buckets) {
        if (bucket.sets.empty()) continue;
        const FieldOwner ancient{std::string(kAncient), version, "", bucket.time};
        kept[bucket.place] =
            make_entry(ancient, "Update", union_of(std::move(bucket.sets)).to_json(kept.storage()));
    }
    entries = std::move(kept);
}

Result<json::object> read_entry(const json::value& sent, json::storage_ptr storage) {
    const auto refuse = [](std::string_view why) {
        return Error(Code::kBadRequest, fmt::format("metadata.managedFields: {}", why));
    };
    const json::object* entry = sent.if_object();
    if (entry == nullptr) return refuse("an entry must be an object");
    const std::string_view operation = string_at(*entry, "operation");
    if (operation != "Apply" && operation != "Update")
        return refuse("operation must be `Apply` or `Update`");
    if (string_at(*entry, "apiVersion").empty()) return refuse("apiVersion must not be empty");
    if (string_at(*entry, "fieldsType") != "FieldsV1") return refuse("fieldsType must be FieldsV1");
    TRY(const FieldSet set, FieldSet::from_json(fields_of(*entry)));
    const std::string_view sent_time = string_at(*entry, "time");
    const std::optional<WallTime> time = parse_time(sent_time);
    if (!time && !sent_time.empty()) return refuse("time must be as RFC 3339 writes it");
    return make_entry(
        {std::string(string_at(*entry, "manager")), std::string(string_at(*entry, "apiVersion")),
         std::string(string_at(*entry, "subresource")), time ? format_time(*time) : std::string()},
        operation, set.to_json(std::move(storage)));
}

// --- apply ---

struct Conflict {
    const json::object* entry;
    FieldSet fields;
};

/// Upstream lists conflicts in the order of this text of their entries.
std::string listing_key(const json::object& entry) {
    const std::string_view part = string_at(entry, "subresource");
    return fmt::format("{}\",{},{},{}", string_at(entry, "manager"), string_at(entry, "operation"),
                       applies(entry) ? "" : string_at(entry, "apiVersion"),
                       part.empty() ? "}" : fmt::format(",{}", part));
}

/// The manager of an entry in upstream's words.
std::string describe_manager(const json::object& entry) {
    std::string text = fmt::format("\"{}\"", string_at(entry, "manager"));
    if (const std::string_view part = string_at(entry, "subresource"); !part.empty())
        text += fmt::format(" with subresource \"{}\"", part);
    if (!applies(entry)) text += fmt::format(" using {}", string_at(entry, "apiVersion"));
    return text;
}

Error conflict_error(const std::vector<Conflict>& conflicts) {
    // Each path may be as long as an object.
    constexpr std::size_t kMostShown = 500;
    constexpr std::size_t kMostBytes = std::size_t{64} * 1024;
    std::size_t count = 0;
    std::vector<Cause> causes;
    std::string list;
    for (const Conflict& conflict : conflicts) {
        count += conflict.fields.count_members();
        if (list.size() > kMostBytes || causes.size() >= kMostShown) continue;
        const std::string manager = describe_manager(*conflict.entry);
        list += fmt::format("{}conflicts with {}:", list.empty() ? "" : "\n", manager);
        conflict.fields.visit([&](const FieldPathElements& path) {
            causes.push_back({"FieldManagerConflict", "conflict with " + manager, describe(path)});
            list += "\n- " + causes.back().field;
            return list.size() <= kMostBytes && causes.size() < kMostShown;
        });
    }
    if (count > causes.size()) list += fmt::format("\nand {} more", count - causes.size());
    const std::string message =
        count == 1 ? fmt::format("1 conflict: {}: {}", causes.front().message, causes.front().field)
                   : fmt::format("{} conflicts: {}", count, list);
    Error error(Code::kConflict, "Apply failed with " + message);
    error.with_causes(std::move(causes));
    return error;
}

/// Removes from the merged value what `last` has and no one owns any more. A field of the schema
/// stays while anyone owns anything in it; the item of a list, or the key of a map, only while
/// anyone owns itself: otherwise it is removed with everything that others own in it, as in
/// upstream.
void remove_given_up(const Schema* schema, json::value& merged, const FieldSet& last,
                     const FieldSet& owned) {
    if (includes(owned, last)) return;
    const FieldSet given_up = with_named_fields(schema, last);
    const FieldSet whole = with_named_fields(schema, field_set_of(schema, merged));
    const auto left_of = [&](const FieldSet& removed) {
        json::value rest = merged;
        remove_fields(schema, rest, removed);
        return with_named_fields(schema, field_set_of(schema, rest));
    };
    const FieldSet kept = union_of(left_of(given_up), with_named_fields(schema, owned));
    const FieldSet left = left_of(difference_of(whole, kept));
    // Metadata stays when no one owns anything in it.
    remove_fields(schema, merged,
                  without_metadata_itself(intersection_of(difference_of(whole, left), given_up)));
    if (merged.is_null()) merged = json::object();  // the object itself stays
}

/// Removes what the applier applied before and no one owns any more.
void prune(const json::array& entries, const json::object* mine, const Schema* schema,
           json::value& live, const FieldOwner& who, const FieldSet& set, const LastApplied& last,
           OwnerVersions* versions) {
    if (last.set.empty() || (last.api_version == who.api_version && includes(set, last.set)))
        return;
    std::map<std::string, std::vector<FieldSet>, std::less<>> sets;
    const bool divided = versions != nullptr && has_other_versions(entries, who.api_version);
    sets[divided ? who.api_version : ""].push_back(set);
    for (const json::value& value : entries) {
        const json::object& entry = value.get_object();
        if (&entry == mine) continue;
        sets[divided ? std::string(string_at(entry, "apiVersion")) : ""].push_back(set_of(entry));
    }
    if (!divided) return remove_given_up(schema, live, last.set, union_of(std::move(sets[""])));
    std::map<std::string, FieldSet, std::less<>> owned;
    for (auto& [version, all] : sets) owned.emplace(version, union_of(std::move(all)));
    live = prune_in_versions(live, who.api_version, last, owned, *versions);
}

}  // namespace

bool resets_managed_fields(const json::array& entries) {
    if (entries.empty()) return true;
    const json::object* only = entries.size() == 1 ? entries.front().if_object() : nullptr;
    return only != nullptr && only->empty();
}

Result<json::array> read_managed_fields(const json::array& sent, json::storage_ptr storage) {
    json::array entries(storage);
    entries.reserve(sent.size());
    using Identity = std::array<std::string, 4>;
    std::map<Identity, std::size_t> places;  // of the entry of each owner
    for (const json::value& value : sent) {
        TRY(json::object entry, read_entry(value, storage));
        // As is_of() compares them.
        Identity identity{std::string(string_at(entry, "manager")),
                          std::string(string_at(entry, "operation")),
                          std::string(string_at(entry, "subresource")),
                          std::string(applies(entry) ? "" : string_at(entry, "apiVersion"))};
        const auto [twin, first] = places.emplace(std::move(identity), entries.size());
        if (first)
            entries.push_back(std::move(entry));
        else
            entries[twin->second] = std::move(entry);
    }
    drop_empty(entries);
    sort_entries(entries);
    return entries;
}

json::array record_creation(const Schema* schema, const json::value& object,
                            const IgnoredFields& ignored, const FieldOwner& who,
                            const json::value* unset, json::storage_ptr storage) {
    json::array entries(storage);
    json::object fields = new_fields_of(schema, object, ignored, unset, std::move(storage));
    if (!fields.empty()) entries.push_back(make_entry(who, "Update", std::move(fields)));
    return entries;
}

bool record_write(json::array& entries, const Schema* schema, const json::value& before,
                  const json::value& after, const IgnoredFields& ignored, const FieldOwner& who,
                  OwnerVersions* versions) {
    FieldChanges changes = compare_fields(schema, before, after, ignored);
    if (changes.empty()) return false;
    const FieldSet own = without_metadata_itself(changes.modified.empty()
                                                     ? std::move(changes.added)
                                                     : union_of(changes.added, changes.modified));
    json::object* mine = find_entry(entries, who, "Update");
    EffectByVersion effects({own, std::move(changes.removed)}, who.api_version, before, after,
                            versions);
    for (json::value& value : entries) {
        json::object& entry = value.get_object();
        const WriteEffect* effect = effects.of(string_at(entry, "apiVersion"));
        if (effect == nullptr) continue;
        take_away(entry, effect->removed);
        if (&entry != mine) take_away(entry, effect->touched);
    }
    if (!own.empty() && mine == nullptr) {
        entries.push_back(make_entry(who, "Update", own.to_json(entries.storage())));
    } else if (!own.empty()) {
        if (!includes(fields_of(*mine), own)) put_set(*mine, union_of(set_of(*mine), own));
        if (who.time.empty())
            mine->erase("time");
        else
            (*mine)["time"] = who.time;
    }
    drop_empty(entries);
    cap_updaters(entries);
    sort_entries(entries);
    return true;
}

Result<void> apply_fields(json::array& entries, const Schema* schema, json::value& live,
                          const json::value& configuration, const IgnoredFields& ignored,
                          const FieldOwner& who, const ApplyOptions& options) {
    TRY_VOID(check_mergeable(schema, configuration));
    if (entries.empty()) {
        FieldOwner earlier = who;
        earlier.name = kBeforeFirstApply;
        entries = record_creation(schema, live, ignored, earlier, options.unset, entries.storage());
    }
    const json::value before = live;
    merge_fields(schema, live, configuration);

    const FieldSet set =
        without_metadata_itself(without_subtrees(field_set_of(schema, configuration), ignored));
    json::object* mine = find_entry(entries, who, "Apply");
    const LastApplied last =
        mine == nullptr ? LastApplied{who.api_version, {}}
                        : LastApplied{std::string(string_at(*mine, "apiVersion")), set_of(*mine)};
    prune(entries, mine, schema, live, who, set, last, options.versions);

    FieldChanges changes = compare_fields(schema, before, live, ignored);
    const bool changed = !changes.empty();
    EffectByVersion effects({union_of(changes.added, changes.modified), std::move(changes.removed)},
                            who.api_version, before, live, options.versions);
    std::vector<Conflict> conflicts;
    for (const json::value& value : entries) {
        const json::object& entry = value.get_object();
        if (&entry == mine || options.force) continue;
        const WriteEffect* effect = effects.of(string_at(entry, "apiVersion"));
        if (effect == nullptr || !intersects(fields_of(entry), effect->touched)) continue;
        FieldSet fields =
            difference_of(intersection_of(set_of(entry), effect->touched), options.tolerated);
        if (!fields.empty()) conflicts.push_back({&entry, std::move(fields)});
    }
    std::ranges::sort(conflicts, {},
                      [](const Conflict& conflict) { return listing_key(*conflict.entry); });
    if (!conflicts.empty()) return conflict_error(conflicts);

    for (json::value& value : entries) {
        json::object& entry = value.get_object();
        if (&entry == mine) continue;
        const WriteEffect* effect = effects.of(string_at(entry, "apiVersion"));
        if (effect == nullptr) continue;
        take_away(entry, effect->touched);
        take_away(entry, effect->removed);
    }
    FieldOwner then = who;
    if (!changed && equal(before, live))
        then.time = mine == nullptr ? std::string_view() : string_at(*mine, "time");
    if (mine == nullptr) {
        entries.push_back(make_entry(then, "Apply", set.to_json(entries.storage())));
    } else if (changed || set != last.set || string_at(*mine, "apiVersion") != who.api_version) {
        *mine = make_entry(then, "Apply", set.to_json(entries.storage()));
    }
    drop_empty(entries);
    sort_entries(entries);
    return {};
}

}  // namespace muster::kube
