#include "apiserver/internal/writing/deletion_rules.h"

#include "apiserver/objects/json_access.h"
#include "base/time/bounded_seconds.h"
#include "kube/values/time.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kDefaultGraceSeconds = 30;
/// Room for additions to a copy.
constexpr std::size_t kSpareForDeletion = 256;

StatusResult<void> check_preconditions(const ResourceDef& def, const json::object& current,
                                       const DeleteQuery& query) {
    const json::object& meta = metadata_of(current);
    const std::string_view name = string_at(meta, "name");
    if (!query.precondition_uid.empty() && query.precondition_uid != string_at(meta, "uid"))
        return conflict(
            def.type, name,
            fmt::format("the UID in the precondition ({}) does not match the UID in record ({}). "
                        "The object might have been deleted and then recreated",
                        query.precondition_uid, string_at(meta, "uid")));
    if (!query.precondition_resource_version.empty() &&
        query.precondition_resource_version != string_at(meta, "resourceVersion"))
        return conflict(
            def.type, name,
            fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                        "ResourceVersion in record ({}). The object might have been modified",
                        query.precondition_resource_version, string_at(meta, "resourceVersion")));
    return {};
}

/// The time for the object's processes to end; 0 for none.
std::int64_t grace_of(const ResourceDef& def, const json::object& current,
                      const DeleteQuery& query) {
    if (!def.deletes_gracefully) return 0;
    const json::object* spec = object_at(current, "spec");
    const json::object* status = object_at(current, "status");
    std::int64_t seconds = kDefaultGraceSeconds;
    if (spec != nullptr)
        seconds = int_at(*spec, "terminationGracePeriodSeconds").value_or(kDefaultGraceSeconds);
    seconds = query.grace_period_seconds.value_or(seconds);
    const std::string_view phase = status == nullptr ? "" : string_at(*status, "phase");
    // Nothing runs that needs time.
    if (spec == nullptr || string_at(*spec, "nodeName").empty() || phase == "Succeeded" ||
        phase == "Failed")
        return 0;
    return seconds < 0 ? 1 : seconds;
}

void set_deletion(json::object& object, WallTime when, std::int64_t grace) {
    json::object& meta = ensure_object(object, "metadata");
    meta["deletionTimestamp"] = kube::format_time(when);
    meta["deletionGracePeriodSeconds"] = grace;
}

/// The explicit policy takes precedence over an existing finalizer of the garbage collector, which
/// takes precedence over the default (background).
void apply_propagation(json::object& object, const std::string& policy) {
    if (policy.empty()) return;
    json::object& meta = ensure_object(object, "metadata");
    json::array kept;
    if (const json::array* finalizers = array_at(meta, "finalizers"))
        for (const json::value& entry : *finalizers)
            if (entry != "foregroundDeletion" && entry != "orphan") kept.push_back(entry);
    if (policy == "Foreground") kept.emplace_back("foregroundDeletion");
    if (policy == "Orphan") kept.emplace_back("orphan");
    if (kept.empty())
        meta.erase("finalizers");
    else
        meta["finalizers"] = std::move(kept);
}

/// A graceful deletion is in progress: a later one can only make it shorter.
NextState shorten(const ResourceDef& def, const json::value& current, const DeleteQuery& query,
                  WallTime now) {
    const json::object& meta = metadata_of(current);
    const std::int64_t old_grace = int_at(meta, "deletionGracePeriodSeconds").value_or(0);
    if (!query.grace_period_seconds || old_grace == 0) return {};
    std::int64_t grace = *query.grace_period_seconds < 0 ? 1 : *query.grace_period_seconds;
    if (grace >= old_grace) return {};
    kube::Document next(current);
    const auto deadline = kube::parse_time(string_at(meta, "deletionTimestamp")).value_or(now);
    const WallTime started = deadline - bounded_seconds(old_grace);
    WallTime until = started + bounded_seconds(grace);
    if (grace > 0 && until < now) {
        grace = 1;
        until = now + std::chrono::seconds(1);
    }
    set_deletion(next.object(), grace == 0 ? now : until, grace);
    if (grace == 0 && !has_finalizers(next.object()))
        return {NextState::Kind::kRemove, {}, std::move(next).share()};
    return settle(def, current, std::move(next));
}

/// With nothing to wait for, the object is removed without a deletion timestamp in between.
bool goes_at_once(const ResourceDef& def, const json::object& current, const DeleteQuery& query,
                  std::int64_t grace) {
    return grace == 0 && !has_finalizers(current) && !def.has_spec_finalizers &&
           def.strategy.prepare_delete == nullptr &&
           (query.propagation.empty() || query.propagation == "Background");
}

}  // namespace

StatusResult<NextState> decide_delete(const ResourceDef& def, const json::value& current,
                                      const DeleteQuery& query, WallTime now) {
    const json::object& stored = current.get_object();
    TRY_VOID(check_preconditions(def, stored, query));
    const std::int64_t grace = is_deleting(stored) ? 0 : grace_of(def, stored, query);
    if (!is_deleting(stored) && goes_at_once(def, stored, query, grace))
        return NextState{NextState::Kind::kRemove};
    kube::Document next(current, kSpareForDeletion);
    json::object& fields = next.object();
    apply_propagation(fields, query.propagation);
    if (is_deleting(stored)) {
        if (int_at(metadata_of(stored), "deletionGracePeriodSeconds").value_or(0) != 0)
            return shorten(def, current, query, now);
        return settle(def, current, std::move(next));
    }
    set_deletion(fields, now + bounded_seconds(grace), grace);
    if (def.strategy.prepare_delete != nullptr) def.strategy.prepare_delete(fields, now);
    return settle(def, current, std::move(next));
}

}  // namespace muster::apiserver
