#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/connect/on_server.h"
#include "cli/internal/describe/event_lines.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/bare_names.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/verbs/verbs.h"
#include "kube/objects/api_status.h"

namespace muster::cli {

namespace {

constexpr std::string_view kEventsHelp =
    R"(Shows events, oldest first.

Usage: muster events [NAME | KIND/NAME] [FLAGS]    a name alone is that of a job, else of a pod

      --for KIND/NAME        about this object only, as the word does
  -w, --watch                continue with new events until Ctrl-C
  -A, --all-namespaces       in every namespace
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

Examples:
  muster events digits
  muster events --for pytorchjob/digits
  muster events -A -w
)";

struct EventsOptions {
    ServerOptions server;
    std::string about;  ///< NAME or KIND/NAME; empty: everything
    bool all_namespaces = false;
    bool watch = false;
};

Task<Result<std::optional<EventSubject>>> find_subject(Connection& connection,
                                                       const std::string& about) {
    if (about.empty()) co_return std::optional<EventSubject>();
    CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
    CO_TRY(const auto targets, co_await find_targets(connection, catalog, {about}));
    if (targets.front().names.empty())
        co_return Error(
            Code::kInvalid,
            fmt::format("\"{}\" is a kind: write KIND/NAME, or the name of a job or pod", about));
    co_return EventSubject{targets.front().resource->type.kind, targets.front().names.front(), {}};
}

Task<Result<int>> show_events(Connection& connection, const EventsOptions& options) {
    CO_TRY(const auto subject, co_await find_subject(connection, options.about));
    const auto wanted = [&](const json::value& event) {
        return !subject || is_about(event, *subject);
    };
    const std::string ns = options.all_namespaces ? "" : connection.default_namespace();
    kube::ListOptions all;
    all.namespace_ = ns;
    CO_TRY(kube::ListResult list, co_await connection.client().list(kube::types::kEvents, all));
    std::erase_if(list.items, [&](const kube::ObjectPtr& event) { return !wanted(*event); });
    TableStyle style;
    style.namespaces = options.all_namespaces;
    TableWriter writer(style);
    Clock& clock = connection.clock();
    if (list.items.empty() && !options.watch) {
        fmt::print(stderr, "No events found{}\n",
                   subject ? fmt::format(" for {}", options.about) : std::string());
        co_return 0;
    }
    print(writer.write(event_table(std::move(list.items), clock.wall_now(), !subject)));
    kube::WatchOptions changes;
    changes.namespace_ = ns;
    changes.resource_version = list.resource_version;
    // If the server ends a watch after its time, it begins again where it was.
    while (options.watch) {
        CO_TRY(const auto stream,
               co_await connection.client().watch(kube::types::kEvents, changes));
        for (;;) {
            CO_TRY(const std::optional<kube::WatchEvent> event, co_await stream->next());
            if (!event) break;
            if (event->type == kube::WatchEventType::kError)
                co_return kube::error_from_status(0, *event->object);
            changes.resource_version =
                read_table(*event->object, clock.wall_now()).resource_version;
            if (event->type != kube::WatchEventType::kAdded &&
                event->type != kube::WatchEventType::kModified)
                continue;
            if (wanted(*event->object))
                print(writer.write(event_table({event->object}, clock.wall_now(), !subject)));
        }
    }
    co_return 0;
}

int events(const EventsOptions& options) {
    return on_server("events", options.server,
                     [&](Connection& connection) { return show_events(connection, options); });
}

class EventsVerb final : public VerbOf<EventsOptions> {
  public:
    EventsVerb() : VerbOf("events", kEventsHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        flags.value("about", word_);
        flags.value("--for", options_.about);
        flags.flag("--all-namespaces,-A", options_.all_namespaces);
        flags.flag("--watch,-w", options_.watch);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (!word_.empty() && !options_.about.empty())
            return "a name and --for mean the same: leave one of them out";
        if (options_.about.empty()) options_.about = word_;
        return std::nullopt;
    }
    int run() override { return events(options_); }

  private:
    std::string word_;
};

}  // namespace

std::unique_ptr<Verb> events_verb() { return std::make_unique<EventsVerb>(); }

}  // namespace muster::cli
