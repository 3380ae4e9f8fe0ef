#include "apiserver/internal/verbs/lists.h"

#include <boost/asio/post.hpp>

#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "apiserver/resources/version_conversion.h"
#include "base/time/loop_watch.h"
#include "kube/values/base64.h"
#include "kube/values/read_json.h"

namespace muster::apiserver {

namespace {

/// Where no one measures how long a turn is.
constexpr std::size_t kObjectsPerTurn = 128;
/// How many are converted at once before some of them are chosen.
constexpr std::size_t kShownAtOnce = 256;

constexpr std::string_view kTokenVersion = "meta.k8s.io/v1";

/// Where the next page starts. Opaque to clients; the form is apimachinery's.
struct ContinueToken {
    std::int64_t revision = 0;  ///< -1: whatever is current
    NamespacedName after;
    /// How many follow, if known, so that not every page walks to the end.
    std::optional<std::size_t> left = {};
};

std::string encode_token(const ContinueToken& token) {
    json::object fields{{"v", kTokenVersion},
                        {"rv", token.revision},
                        {"start", token.after.namespace_ + "/" + token.after.name + '\0'}};
    if (token.left) fields["left"] = *token.left;
    return kube::base64url_encode(json::serialize(fields));
}

StatusResult<ContinueToken> decode_token(std::string_view text) {
    const auto refuse = [](std::string_view why) {
        return bad_request(fmt::format("invalid continue token: {}", why));
    };
    const std::optional<std::string> decoded = kube::base64url_decode(text);
    if (!decoded) return refuse("it is not base64url");
    const std::optional<json::value> parsed = kube::read_json(*decoded);
    const json::object* fields = parsed ? parsed->if_object() : nullptr;
    if (fields == nullptr) return refuse("it is not a JSON object");
    if (string_at(*fields, "v") != kTokenVersion) return refuse("its version is not known");
    const std::optional<std::int64_t> revision = int_at(*fields, "rv");
    std::string_view start = string_at(*fields, "start");
    const std::size_t slash = start.find('/');
    if (!revision || *revision == 0 || *revision < -1 || slash == std::string_view::npos ||
        start.back() != '\0')
        return refuse("it does not name a place in a list");
    start.remove_suffix(1);
    ContinueToken token{
        *revision, {std::string(start.substr(0, slash)), std::string(start.substr(slash + 1))}};
    if (const auto left = int_at(*fields, "left"); left && *left >= 0)
        token.left = static_cast<std::size_t>(*left);
    return token;
}

StatusError expired_token(const NamespacedName& after) {
    StatusError status_error = expired(
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter, or use the continue token in this "
        "response to retrieve the remainder of the results. Continuing with the provided token "
        "results in an inconsistent list - objects that were created, modified, or deleted between "
        "the time the first chunk was returned and now may show up in the list.");
    status_error.continue_token = encode_token({-1, after});
    return status_error;
}

/// Walks two ordered views as one: the present objects, and the earlier states of some of them.
class SnapshotWalk {
  public:
    using States = std::map<NamespacedName, store::ObjectTextPtr>;

    SnapshotWalk(WatchCache::Objects::const_iterator now, WatchCache::Objects::const_iterator end,
                 States::const_iterator then, States::const_iterator then_end)
        : now_(now), end_(end), then_(then), then_end_(then_end) {}

    /// The next object that existed, or null at the end.
    const store::ObjectTextPtr* next() {
        while (now_ != end_ || then_ != then_end_) {
            const bool stated =
                then_ != then_end_ && (now_ == end_ || !(now_->first < then_->first));
            if (!stated) return &(now_++)->second.object;
            if (now_ != end_ && now_->first == then_->first) ++now_;
            const store::ObjectTextPtr& state = (then_++)->second;
            if (state != nullptr) return &state;
        }
        return nullptr;
    }

  private:
    WatchCache::Objects::const_iterator now_;
    WatchCache::Objects::const_iterator end_;
    States::const_iterator then_;
    States::const_iterator then_end_;
};

/// Where a page begins, and which state it shows.
struct PageStart {
    store::Revision revision = 0;
    bool current = true;  ///< the state is whatever the cache has
    std::optional<NamespacedName> after = {};
    std::optional<std::size_t> left = {};  ///< how many follow, if known
};

StatusResult<PageStart> start_of(const ListQuery& query, store::Revision now) {
    PageStart start{.revision = now};
    if (!query.continue_.empty()) {
        if (query.resource_version.value_or(0) != 0)
            return bad_request("specifying resource version is not allowed when using continue");
        TRY(ContinueToken token, decode_token(query.continue_));
        if (token.revision > 0) {
            start.revision = static_cast<store::Revision>(token.revision);
            start.left = token.left;
        }
        start.after = std::move(token.after);
    } else if (query.resource_version.value_or(0) > 0 &&
               (query.resource_version_match == "Exact" ||
                (query.resource_version_match.empty() && query.limit > 0))) {
        start.revision = *query.resource_version;
    }
    start.current = start.revision == now;
    return start;
}

/// The states that differ from the present ones, in one namespace unless that is empty.
StatusResult<SnapshotWalk::States> states_of(const WatchCache& cache, const std::string& resource,
                                             const std::string& namespace_,
                                             const PageStart& start) {
    if (start.current) return SnapshotWalk::States();
    auto states = cache.states_at(resource, start.revision);
    if (!states) {
        if (start.after) return expired_token(*start.after);
        return expired(fmt::format("The resourceVersion for the provided list is too old: {}",
                                   start.revision));
    }
    if (!namespace_.empty())
        std::erase_if(*states,
                      [&](const auto& entry) { return entry.first.namespace_ != namespace_; });
    return *std::move(states);
}

/// The objects that a page is chosen from.
struct Candidates {
    std::vector<store::ObjectTextPtr> objects;
    std::size_t more = 0;  ///< how many follow; at least one, if `start` knows how many do
};

/// `most`: how many are needed; 0: all.
StatusResult<Candidates> candidates_of(const WatchCache& cache, const Target& target,
                                       const PageStart& start, std::size_t most) {
    const std::string resource = target.def->storage_key();
    TRY(const SnapshotWalk::States states, states_of(cache, resource, target.namespace_, start));
    auto [first, last] = cache.range(resource, target.namespace_);
    auto then = states.begin();
    if (start.after) {
        first = cache.objects(resource).upper_bound(*start.after);
        then = states.upper_bound(*start.after);
    }
    Candidates found;
    SnapshotWalk walk(first, last, then, states.end());
    while (const store::ObjectTextPtr* object = walk.next()) {
        if (most == 0 || found.objects.size() < most) {
            found.objects.push_back(*object);
            continue;
        }
        ++found.more;
        if (start.left) break;
    }
    return found;
}

}  // namespace

Task<StatusResult<ListPage>> list_objects(const WatchCache& cache, Target target, ListQuery query,
                                          ShowAll show) {
    const ResourceDef& def = *target.def;
    CO_TRY(const Selection selection,
           Selection::make(def, target.namespace_, query.label_selector, query.field_selector));
    CO_TRY(const PageStart start, start_of(query, cache.revision()));
    // "0" asks for everything that the cache holds.
    const std::size_t limit =
        query.resource_version == 0 && query.continue_.empty() ? 0 : query.limit;
    const bool selects = selection.has_selectors();
    const bool costs = selects || !def.storage_version || def.stored_in_several;
    CO_TRY(Candidates found, candidates_of(cache, target, start, selects ? 0 : limit));

    ListPage page;
    page.revision = start.revision;
    std::size_t more = found.more;
    std::size_t looked_at = 0;
    std::size_t shown = show && selection.reads_objects() ? 0 : found.objects.size();
    for (std::size_t i = 0; i < found.objects.size(); ++i) {
        if (i == shown) {
            const auto first = found.objects.begin() + static_cast<std::ptrdiff_t>(i);
            shown = std::min(i + kShownAtOnce, found.objects.size());
            std::vector<store::ObjectTextPtr> some(
                first, found.objects.begin() + static_cast<std::ptrdiff_t>(shown));
            CO_TRY(some, co_await show(std::move(some)));
            std::ranges::move(some, first);
        }
        store::ObjectTextPtr& object = found.objects[i];
        if (costs && (++looked_at % kObjectsPerTurn == 0 || turn_is_long()))
            co_await asio::post(asio::use_awaitable);
        if (selects && !selection.matches(*object)) continue;
        if (limit > 0 && page.items.size() == limit) {
            ++more;
            break;
        }
        page.items.push_back(in_version(def, std::move(object)));
    }
    if (more == 0) co_return page;
    if (start.left) more = std::max(more, *start.left - std::min(*start.left, page.items.size()));
    if (!selects) page.remaining = more;
    const store::ObjectText& last = *page.items.back();
    page.continue_ = encode_token({static_cast<std::int64_t>(page.revision),
                                   {namespace_of(last), name_of(last)},
                                   page.remaining});
    co_return page;
}

json::object list_envelope(const ResourceDef& def, const ListPage& page) {
    json::object meta{{"resourceVersion", std::to_string(page.revision)}};
    if (!page.continue_.empty()) meta["continue"] = page.continue_;
    if (page.remaining) meta["remainingItemCount"] = *page.remaining;
    return {{"kind", def.list_kind},
            {"apiVersion", def.type.api_version()},
            {"metadata", std::move(meta)}};
}

}  // namespace muster::apiserver
