#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/flags.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/record/run_folder.h"
#include "cli/internal/runs/named_run.h"
#include "cli/internal/runs/run_difference.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

namespace {

constexpr const char* kDiffVerb = "diff";
constexpr std::string_view kDiffHelp =
    R"(Says in what two runs differ: result, command, manifest, environment, and Python's packages.

Usage: muster diff RUN RUN [FLAGS]

  -o, --output json          for programs

Secrets are not kept, so they are not compared.

Exit status: 0; 1 when there is no such run.

Examples:
  muster diff train-1 train-2
)";

struct DiffOptions {
    std::vector<std::string> runs;
    bool json = false;
};

RunTexts texts_of(const FoundRun& run) {
    return {.record = run.record,
            .manifest = read_run_file(run.folder, kManifestFile).value_or(""),
            .environment = read_run_file(run.folder, kEnvironmentFile).value_or(""),
            .packages = read_run_file(run.folder, kPackagesFile).value_or("")};
}

Result<int> diff(const DiffOptions& options) {
    const control_plane::Caller caller = control_plane::current_caller();
    TRY(const FoundRun before, require_run(options.runs[0], caller));
    TRY(const FoundRun after, require_run(options.runs[1], caller));
    const auto differences = differences_of(texts_of(before), texts_of(after));
    if (options.json)
        print_exact(differences_json(differences));
    else if (differences.empty())
        fmt::print(stderr, "{} and {} do not differ.\n", before.record.name, after.record.name);
    else
        print(differences_text(differences));
    return 0;
}

class DiffVerb final : public VerbOf<DiffOptions> {
  public:
    DiffVerb() : VerbOf(kDiffVerb, kDiffHelp) {}

    void declare(Flags& flags) override {
        flags.words("runs", options_.runs);
        flags.value("--output,-o", output_);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.runs.size() != 2) return "name two runs; 'muster ps -a' lists them";
        if (!output_.empty() && output_ != "json")
            return fmt::format("--output wants json, not \"{}\"", output_);
        options_.json = !output_.empty();
        return std::nullopt;
    }
    int run() override {
        const Result<int> status = diff(options_);
        if (status) return *status;
        tell_error(kDiffVerb, status.error());
        return 1;
    }

  private:
    std::string output_;
};

}  // namespace

std::unique_ptr<Verb> diff_verb() { return std::make_unique<DiffVerb>(); }

}  // namespace muster::cli
