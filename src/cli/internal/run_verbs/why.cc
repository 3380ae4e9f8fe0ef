#include <fmt/format.h>

#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/record/run_folder.h"
#include "cli/internal/run_verbs/named_job.h"
#include "cli/internal/runs/named_run.h"
#include "cli/internal/runs/why_text.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

namespace {

constexpr const char* kWhyVerb = "why";
constexpr std::string_view kWhyHelp =
    R"(Says why a run or a job is in the state that it is in.

Usage: muster why RUN | JOB | KIND/JOB [FLAGS]

How it ended and which container decided, with its last lines; or, while it has not ended, what it waits for, and
what was restarted and why.

  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'; a job of that server is meant then

Exit status: 0; 1 when there is no such run or job.

Examples:
  muster why train-1
  muster why pytorchjob/digits
)";

struct WhyOptions {
    ServerOptions server;
    std::string about;
};

Result<std::string> why_run(const FoundRun& run) {
    std::string text;
    if (run.record.end) {
        for (const std::string& line : run.record.end->why) text += line + "\n";
        if (!text.empty()) return text;
        return fmt::format("{} {} (exit status {})\n", run.record.name, run.record.end->result,
                           run.record.end->status);
    }
    const Result<std::string> kept = read_run_file(run.folder, kObjectsFile);
    if (kept) {
        TRY(const RunObjects objects, run_objects(*kept));
        text = why_text(objects);
    }
    if (!run.alive)
        text += "the process of this run was killed: how it would have ended is not known\n";
    else if (text.empty())
        text = "it has only begun\n";
    return text;
}

int why(const WhyOptions& options) {
    const auto of_run = [](const FoundRun& run) -> Result<int> {
        TRY(const std::string text, why_run(run));
        print(text);
        return 0;
    };
    const auto of_job = [&](Connection& connection) -> Task<Result<int>> {
        CO_TRY(const NamedJob job, co_await find_job(connection, options.about));
        CO_TRY(const RunObjects objects,
               co_await collect_run_objects(connection.client(),
                                            {{job.type, job.namespace_, job.name}}));
        print(why_text(objects));
        co_return 0;
    };
    return on_run_or_server(kWhyVerb, options.about, options.server, of_run, of_job);
}

class WhyVerb final : public VerbOf<WhyOptions> {
  public:
    WhyVerb() : VerbOf(kWhyVerb, kWhyHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        flags.value("about", options_.about);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.about.empty()) return "name a run or a job; 'muster ps -a' lists them";
        return std::nullopt;
    }
    int run() override { return why(options_); }
};

}  // namespace

std::unique_ptr<Verb> why_verb() { return std::make_unique<WhyVerb>(); }

}  // namespace muster::cli
