#include "cli/internal/runs/named_run.h"

#include <fmt/format.h>

#include "base/async/run_to_end.h"
#include "base/lower_case.h"
#include "base/time/real_clock.h"
#include "cli/internal/connect/connection.h"
#include "cli/internal/connect/kubeconfig_places.h"
#include "cli/internal/objects/bare_names.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/record/run_folder.h"
#include "control_plane/daemon/state_home.h"

namespace muster::cli {

namespace {

bool names_a_server(const ServerOptions& server) {
    return !server.kubeconfig.empty() || !server.context.empty() || !server.namespace_.empty();
}

Task<bool> has_job(Connection& connection, std::string name) {
    const auto found = [&]() -> Task<Result<bool>> {
        CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
        CO_TRY(const auto kinds, kinds_of_bare_names(catalog));
        CO_TRY(const NamedObject named, co_await find_named(connection, kinds, name));
        co_return named.resource != nullptr;
    };
    // A server that can't be asked is of no help.
    const Result<bool> answer = co_await found();
    co_await connection.stop();
    co_return answer && *answer;
}

bool up_has_job(const std::string& name, const control_plane::Caller& caller) {
    RealClock clock;
    asio::io_context context(1);
    const auto connection =
        Connection::open(options_of_up(caller), caller, context.get_executor(), clock);
    return connection && run_to_end(context, has_job(**connection, name));
}

}  // namespace

bool up_is_here(const control_plane::Caller& caller) {
    const auto daemon = control_plane::find_daemon(control_plane::state_path({}, caller));
    return daemon && *daemon && !(*daemon)->address.empty();
}

ServerOptions options_of_up(const control_plane::Caller& caller) {
    return {.kubeconfig = control_plane::state_path({}, caller) / "kubeconfig",
            .context = "muster",
            .namespace_ = {}};
}

Result<std::optional<FoundRun>> find_named_run(const std::string& word, const ServerOptions& server,
                                               const control_plane::Caller& caller) {
    if (names_a_server(server) || word.find('/') != std::string::npos)
        return std::optional<FoundRun>();
    // A directory that can't be read has no run that could be meant.
    const Result<std::vector<FoundRun>> runs = list_runs(runs_directory(caller));
    const FoundRun* const run = runs ? choose_run(*runs, word) : nullptr;
    if (run == nullptr) {
        const auto places = read_kubeconfigs(kubeconfig_places({}, caller));
        if (!places && places.error().code() == Code::kNotFound)
            return Error(Code::kNotFound,
                         fmt::format("there is no run \"{}\" ('muster ps -a' lists them), and no "
                                     "kubeconfig says where else to look: 'muster up' makes one, "
                                     "or name one with --kubeconfig",
                                     word));
        return std::optional<FoundRun>();
    }
    const bool certain = run->record.name == word || run->alive;
    if (!certain && up_is_here(caller) && up_has_job(word, caller))
        return std::optional<FoundRun>();
    return std::optional(*run);
}

int on_run_or_server(const std::string& verb, const std::string& word, const ServerOptions& server,
                     const std::function<Result<int>(const FoundRun&)>& with_run,
                     const ServerWork& with_server) {
    const auto found = find_named_run(word, server, control_plane::current_caller());
    if (found && !*found) return on_server(verb, server, with_server);
    const Result<int> status = found ? with_run(**found) : found.error();
    if (status) return *status;
    tell_error(verb, status.error());
    return 1;
}

Result<FoundRun> require_run(const std::string& word, const control_plane::Caller& caller) {
    TRY(const std::vector<FoundRun> runs, list_runs(runs_directory(caller)));
    if (const FoundRun* run = choose_run(runs, word)) return *run;
    return Error(Code::kNotFound,
                 fmt::format("there is no run \"{}\"; 'muster ps -a' lists them", word));
}

ServerOptions server_of(const RunRecord& record) {
    return {.kubeconfig = record.kubeconfig,
            .context = record.context,
            .namespace_ = record.subjects.empty() ? "" : record.subjects.front().namespace_};
}

std::string job_word_of(const RunRecord& record) {
    if (record.subjects.empty()) return record.name;
    const RunSubject& job = record.subjects.front();
    return fmt::format("{}/{}", lower_case(job.kind), job.name);
}

}  // namespace muster::cli
