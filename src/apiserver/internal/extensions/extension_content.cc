#include "apiserver/internal/extensions/extension_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "apiserver/internal/extensions/extension_call.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "base/time/loop_watch.h"
#include "kube/values/read_json.h"

namespace muster::apiserver {
namespace {

constexpr Duration kCallTime = std::chrono::seconds(5);
/// Between two looks at what is left, which grow.
constexpr Duration kFirstPause = std::chrono::milliseconds(500);
constexpr Duration kLongestPause = std::chrono::seconds(15);
/// Of the list with the first object.
constexpr std::size_t kLargestAnswer = std::size_t{2} * 1024 * 1024;
constexpr unsigned kOk = 200;
constexpr unsigned kOkEnd = 300;
constexpr unsigned kNotFound = 404;

/// What a server may keep in namespaces, and can delete.
struct Kept {
    std::string resource;
    bool as_collection = false;  ///< all of a namespace by one request
};

bool has(const std::vector<std::string>& verbs, std::string_view verb) {
    return std::ranges::find(verbs, verb) != verbs.end();
}

std::vector<Kept> kept_by(const DiscoveredVersion& version) {
    std::vector<Kept> kept;
    for (const json::value& each : version.resources) {
        const json::object* resource = each.if_object();
        if (resource == nullptr || string_at(*resource, "scope") != "Namespaced") continue;
        const std::vector<std::string> verbs = kube::strings_at(*resource, "verbs");
        const bool as_collection = has(verbs, "deletecollection");
        if (has(verbs, "list") && (as_collection || has(verbs, "delete")))
            kept.push_back({std::string(string_at(*resource, "resource")), as_collection});
    }
    return kept;
}

/// A server that has never said what it serves may keep anything.
bool may_keep(const ExtensionServers::Known& known) {
    return known.said == nullptr || !kept_by(*known.said).empty();
}

/// A list of one object, which says how many come after it.
struct FirstOfList {
    std::size_t count = 0;
    std::string name;
    std::vector<std::string> finalizers;
};

Result<FirstOfList> read_first(const std::string& text) {
    const std::optional<json::value> list = kube::read_json(text);
    const json::object* fields = list ? list->if_object() : nullptr;
    if (fields == nullptr || array_at(*fields, "items") == nullptr)
        return Error(Code::kInvalid, "its answer is no list");
    FirstOfList first;
    const std::vector<const json::object*> items = kube::objects_at(*fields, "items");
    if (items.empty()) return first;
    const std::int64_t more = int_at(child(*fields, "metadata"), "remainingItemCount").value_or(0);
    first.count = items.size() + static_cast<std::size_t>(std::max<std::int64_t>(more, 0));
    first.name = name_of(*items.front());
    first.finalizers = kube::strings_at(metadata_of(*items.front()), "finalizers");
    return first;
}

/// One kind of object of one server in one namespace.
class Collection {
  public:
    Collection(ServerState& state, const ExtensionServer& server, const Kept& kept,
               const std::string& namespace_)
        : state_(state),
          server_(server),
          kept_(kept),
          path_(fmt::format("{}/namespaces/{}/{}", server.path(), namespace_, kept.resource)) {}

    Task<Result<void>> remove() {
        if (kept_.as_collection) co_return co_await remove_at(path_);
        for (int removed = 0; removed < kSinglesAtATime; ++removed) {
            CO_TRY(const FirstOfList first, co_await this->first());
            // What is only held by its finalizers was told to go.
            if (first.count == 0 || !first.finalizers.empty()) break;
            CO_TRY_VOID(co_await remove_at(fmt::format("{}/{}", path_, first.name)));
        }
        co_return Result<void>();
    }

    Task<Result<FirstOfList>> first() {
        CO_TRY(
            const net::HttpResponse list,
            co_await ask_extension(state_, server_, path_ + "?limit=1", kLargestAnswer, kCallTime));
        if (list.status != kOk) co_return unexpected("list", list.status);
        co_return read_first(list.body);
    }

  private:
    static constexpr int kSinglesAtATime = 64;

    Task<Result<void>> remove_at(std::string path) {
        CO_TRY(const net::HttpResponse answer,
               co_await ask_extension(state_, server_, std::move(path), 0, kCallTime, "DELETE"));
        const bool is_done =
            (answer.status >= kOk && answer.status < kOkEnd) || answer.status == kNotFound;
        if (!is_done) co_return unexpected("delete", answer.status);
        co_return Result<void>();
    }
    Error unexpected(std::string_view verb, unsigned status) const {
        return {Code::kUnavailable,
                fmt::format("the server answers {} to {} {}", status, verb, path_)};
    }

    ServerState& state_;
    ExtensionServer server_;
    Kept kept_;
    std::string path_;
};

void add_problem(std::string& to, const std::string& problem) {
    // Each of a hundred servers may have one.
    constexpr std::size_t kLongest = 4096;
    if (to.size() < kLongest) to += (to.empty() ? "" : "; ") + problem;
}

}  // namespace

ExtensionContent::ExtensionContent(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("content behind APIServices", state.tasks, state.clock,
             [this](std::string name) { return reconcile(std::move(name)); }) {}

bool ExtensionContent::is_gone(const std::string& namespace_, const std::string& uid) {
    if (empty_.erase(uid) > 0) return true;
    if (std::ranges::none_of(state_.extensions.all(),
                             [](const auto& each) { return may_keep(each.second); }))
        return true;
    const auto waiting = waiting_.find(namespace_);
    if (waiting == waiting_.end() || !waiting->second.asleep) queue_.add(namespace_);
    return false;
}

Task<StatusResult<void>> ExtensionContent::reconcile(std::string namespace_) {
    const auto uid_if_deleting = [&]() -> std::string {
        const CachedObject* found = state_.cache.find("namespaces", "", namespace_);
        return found != nullptr && is_deleting(*found->object) ? uid_of(*found->object)
                                                               : std::string();
    };
    const std::string uid = uid_if_deleting();
    if (uid.empty()) {
        waiting_.erase(namespace_);
        co_return StatusResult<void>();
    }
    NamespaceContent left = co_await delete_content(namespace_);
    if (uid_if_deleting() != uid) co_return StatusResult<void>();
    if (left.is_gone()) {
        waiting_.erase(namespace_);
        empty_.insert(uid);
        gone_(std::move(namespace_));
        co_return StatusResult<void>();
    }
    CO_TRY_VOID(co_await report_content(state_, writer_, namespace_, std::move(left)));
    look_again(std::move(namespace_));
    co_return StatusResult<void>();
}

void ExtensionContent::look_again(std::string namespace_) {
    Waiting& waiting = waiting_[namespace_];
    if (std::exchange(waiting.asleep, true)) return;
    waiting.pause = std::clamp(waiting.pause * 2, kFirstPause, kLongestPause);
    spawn_restarting(state_.tasks, state_.clock, "content behind APIServices",
                     [this, name = std::move(namespace_), pause = waiting.pause] {
                         return add_after(name, pause);
                     });
}

Task<void> ExtensionContent::add_after(std::string namespace_, Duration pause) {
    co_await state_.clock.sleep_for(pause);
    waiting_[namespace_].asleep = false;
    queue_.add(std::move(namespace_));
}

Task<NamespaceContent> ExtensionContent::delete_content(std::string namespace_) {
    NamespaceContent left;
    // A copy: servers may come and go meanwhile.
    const ExtensionServers::Servers servers = state_.extensions.all();
    for (const auto& [api_version, known] : servers) {
        if (known.said == nullptr) {
            add_problem(left.undiscovered,
                        fmt::format("{}: the server of APIService {} has not said yet what it "
                                    "serves",
                                    api_version, known.server.name));
            continue;
        }
        for (const Kept& kept : kept_by(*known.said)) {
            Collection collection(state_, known.server, kept, namespace_);
            const std::string name = fmt::format("{}.{}", kept.resource, known.server.group);
            const Result<void> removed = co_await collection.remove();
            const Result<FirstOfList> first =
                removed ? co_await collection.first() : Result<FirstOfList>(removed.error());
            works_for("content behind APIServices");
            if (!first) {
                // The others of this server would fail for the same reason.
                add_problem(left.failure, fmt::format("{}: {}", name, first.error().message()));
                break;
            }
            if (first->count > 0) left.instances[name] = first->count;
            for (const std::string& finalizer : first->finalizers) ++left.by_finalizer[finalizer];
        }
    }
    co_return left;
}

}  // namespace muster::apiserver
