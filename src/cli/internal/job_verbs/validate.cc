#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <cstdio>

#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/prepare/prepare.h"
#include "cli/internal/prepare/problem_report.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/own_programs.h"
#include "kube/values/namespaced_name.h"

namespace muster::cli {

namespace {

constexpr std::string_view kValidateHelp =
    R"(Checks manifests and starts nothing.

Usage: muster validate FILE... [FLAGS]   FILE may be a directory, or - for standard input

Prints every problem as FILE:LINE:COLUMN: error: FIELD: what is wrong and what to do.

  -f, --filename FILE        another way to name a manifest; may be repeated
      --strict               unknown fields are errors, not warnings
  -R, --recursive            a directory stands for the manifests of those in it, too
      --anywhere             do not look at this machine: programs, directories, devices
  -q, --quiet                print problems only
  -o, --output json|sarif    all that was found as one JSON object on standard output: problems, objects
                             and notes; or as SARIF 2.1.0, which code reviews show at their lines
      --namespace, --set, --replicas, --env, --workdir, --mount, --volume, --secret, --config,
      --entrypoint, --entrypoints, --ignore-resources, --fit, --wait-for-others
                             as in 'muster run'

Objects of other kinds than jobs and pods are checked as the API would, as far as it has them; a note
names those that are passed over.

Exit status: 0 when there is no error, 2 otherwise.

Examples:
  muster validate job.yaml --strict
  muster validate --anywhere examples/*.yaml
  muster validate -R deploy -o sarif > muster.sarif
)";

enum class Report { kText, kJson, kSarif };

struct ValidateOptions {
    ManifestOptions manifest;
    bool quiet = false;
    Report report = Report::kText;
};

/// For other programs.
void print_report(Report report, const Prepared& prepared,
                  const std::vector<manifest::Problem>& problems) {
    fmt::print("{}\n",
               json::serialize(report == Report::kJson ? report_of(prepared, problems)
                                                       : sarif_of(problems, MUSTER_VERSION)));
}

int validate(const ValidateOptions& options) {
    const control_plane::Caller caller = control_plane::with_own_programs(
        control_plane::current_caller(), control_plane::MissingLink::kLeave);
    Prepared prepared =
        prepare(options.manifest, caller, *control_plane::make_real_machine(caller.environment));
    std::vector<manifest::Problem> problems = prepared.problems;
    // No node is there, of which it would be known.
    for (manifest::Problem& problem : prepared.problems_with_own_tmp) {
        problem.severity = manifest::Severity::kWarning;
        problems.push_back(problem);
    }
    if (options.report != Report::kText) {
        print_report(options.report, prepared, problems);
        return manifest::has_errors(problems) ? 2 : 0;
    }
    for (const manifest::Problem& problem : problems) fmt::print(stderr, "{}\n", format(problem));
    if (manifest::has_errors(prepared.problems)) {
        fmt::print(stderr, "muster validate: {}\n", manifest::count_problems(prepared.problems));
        return 2;
    }
    if (options.quiet) return 0;
    for (const std::string& notice : prepared.notices) fmt::print("note: {}\n", notice);
    for (const manifest::CheckedObject& object : prepared.objects) {
        const std::string name =
            kube::NamespacedName{object.namespace_, object.name.empty() && object.job
                                                        ? object.job->metadata.generate_name + "*"
                                                        : object.name}
                .text();
        const int count = object.job ? object.job->total_replicas() : 0;
        const std::string pods =
            object.job ? fmt::format(", {} pod{}", count, count == 1 ? "" : "s") : "";
        fmt::print("{}: {} {} is valid{}\n", object.document.source, object.type.kind, name, pods);
    }
    return 0;
}

class ValidateVerb final : public VerbOf<ValidateOptions> {
  public:
    ValidateVerb() : VerbOf("validate", kValidateHelp) { options_.manifest.only_checks = true; }

    void declare(Flags& flags) override {
        manifest_.declare(flags, options_.manifest);
        flags.flag("--anywhere", options_.manifest.any_machine);
        flags.flag("--quiet,-q", options_.quiet);
        flags.value("--output,-o", output_);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (output_ == "json")
            options_.report = Report::kJson;
        else if (output_ == "sarif")
            options_.report = Report::kSarif;
        else if (!output_.empty())
            return fmt::format("--output wants json or sarif, not \"{}\"", output_);
        return manifest_.finish(options_.manifest);
    }
    int run() override { return validate(options_); }

  private:
    ManifestFlags manifest_;
    std::string output_;
};

}  // namespace

std::unique_ptr<Verb> validate_verb() { return std::make_unique<ValidateVerb>(); }

}  // namespace muster::cli
