#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/shell_word.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/object_follow.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/record/run_folder.h"
#include "cli/internal/record/run_recorder.h"
#include "cli/internal/run_verbs/named_job.h"
#include "cli/internal/run_verbs/stop_run.h"
#include "cli/internal/runs/named_run.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/machine.h"
#include "kube/values/document.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

constexpr const char* kRerunVerb = "rerun";
constexpr std::string_view kRerunHelp =
    R"(Runs again what ran before.

Usage: muster rerun RUN | JOB | KIND/JOB [FLAGS]

Of a run: the same line in the same directory, with today's environment and files. A manifest that came from standard
input is taken from what was kept. Of a job of a server: one that is suspended continues; one that has ended is deleted
and created again.

  -d, --detach               without the terminal, as 'muster run -d'
      --print                print the line, and start nothing
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'; a job of that server is meant then

Exit status: as of 'muster run'; 1 when there is no such run or job.

Examples:
  muster rerun train-1
  muster rerun train-1 --print
)";

struct RerunOptions {
    ServerOptions server;
    std::string about;
    bool detach = false;
    bool print = false;
};

/// The words of the line, with the manifest from the folder if it came from standard input.
Result<std::vector<std::string>> words_of(const FoundRun& run, bool detach) {
    std::vector<std::string> words = run.record.command;
    if (words.empty())
        return Error(Code::kInvalid,
                     fmt::format("it is not known how {} was started", run.record.name));
    const auto end = std::ranges::find(words, "--");
    for (auto word = words.begin(); word != end; ++word) {
        if (*word != "-") continue;
        TRY(const std::string manifest, read_run_file(run.folder, kManifestFile));
        if (manifest.find(kNotKept) != std::string::npos)
            return Error(
                Code::kInvalid,
                "its manifest came from standard input and has a Secret, which was not kept");
        *word = run.folder / kManifestFile;
    }
    const bool has_it = std::find(words.begin(), words.end(), "-d") != words.end() ||
                        std::find(words.begin(), words.end(), "--detach") != words.end();
    if (detach && !has_it) words.insert(words.begin() + 1, "-d");
    return words;
}

Result<int> rerun_run(const FoundRun& run, const RerunOptions& options) {
    TRY(std::vector<std::string> words, words_of(run, options.detach));
    words.insert(words.begin(), "muster");
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
    if (options.print) {
        print_exact(line + "\n");
        return 0;
    }
    if (::chdir(run.record.directory.c_str()) < 0)
        return system_error("going to the directory " + run.record.directory, errno);
    fmt::print(stderr, "{}\n", line);
    const std::string program = control_plane::own_program();
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(program.c_str(), arguments.data());
    return system_error("starting " + program, errno);
}

/// The job as it was applied: without what the server and the operator add.
json::value fresh_copy(const NamedJob& job) {
    json::value copy = kube::copy_of(*job.object);
    json::object& root = copy.get_object();
    root.erase("status");
    json::object metadata;
    const json::object& had = kube::metadata_of(*job.object);
    for (const char* field : {"name", "namespace", "labels", "annotations"})
        if (const json::value* value = had.if_contains(field)) metadata[field] = *value;
    root["metadata"] = std::move(metadata);
    return copy;
}

Task<Result<int>> rerun_job(Connection& connection, std::string word) {
    CO_TRY(const NamedJob job, co_await find_job(connection, word));
    const std::optional<JobView> view = job_view(*job.object);
    if (!view) co_return Error(Code::kInvalid, job.shown + " is not a job");
    const json::object& spec = kube::child(job.object->get_object(), "spec");
    if (kube::bool_at(kube::child(spec, "runPolicy"), "suspend") ||
        kube::bool_at(spec, "suspend")) {
        CO_TRY_VOID(co_await set_suspended(connection, job, false));
        print(job.shown + " continues\n");
        co_return 0;
    }
    if (!view->finished())
        co_return Error(
            Code::kInvalid,
            fmt::format("{} has not ended: 'muster stop {}' suspends it", job.shown, word));
    kube::DeleteOptions options;
    options.propagation = kube::Propagation::kForeground;
    options.precondition_uid = view->uid;
    CO_TRY_VOID(co_await connection.client().remove(job.type, job.namespace_, job.name, options));
    const std::function<bool(const json::value*)> gone = [&](const json::value* object) {
        return object == nullptr || kube::uid_of(object->get_object()) != view->uid;
    };
    CO_TRY_VOID(co_await follow_object(connection, job.type, job.namespace_, job.name, gone));
    CO_TRY_VOID(co_await connection.client().create(job.type, job.namespace_, fresh_copy(job)));
    print(job.shown + " created again\n");
    co_return 0;
}

int rerun(const RerunOptions& options) {
    return on_run_or_server(
        kRerunVerb, options.about, options.server,
        [&](const FoundRun& run) { return rerun_run(run, options); },
        [&](Connection& connection) { return rerun_job(connection, options.about); });
}

class RerunVerb final : public VerbOf<RerunOptions> {
  public:
    RerunVerb() : VerbOf(kRerunVerb, kRerunHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        flags.value("about", options_.about);
        flags.flag("--detach,-d", options_.detach);
        flags.flag("--print", options_.print);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.about.empty()) return "name a run or a job; 'muster ps -a' lists them";
        return std::nullopt;
    }
    int run() override { return rerun(options_); }
};

}  // namespace

std::unique_ptr<Verb> rerun_verb() { return std::make_unique<RerunVerb>(); }

}  // namespace muster::cli
