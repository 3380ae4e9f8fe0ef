#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/prepare/prepare.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/own_programs.h"
#include "kube/values/namespaced_name.h"

namespace muster::cli {

namespace {

constexpr std::string_view kValidateHelp =
    R"(Checks manifests and starts nothing.

Usage: muster validate FILE... [FLAGS]   FILE may be - for standard input

Prints every problem as FILE:LINE:COLUMN: error: FIELD: what is wrong and what to do.

  -f, --filename FILE        another way to name a manifest; may be repeated
      --strict               unknown fields are errors, not warnings
      --anywhere             do not look at this machine: programs, directories, devices
  -q, --quiet                print problems only
      --namespace, --set, --replicas, --env, --workdir, --mount, --ignore-resources, --fit,
      --wait-for-others      as in 'muster run'

Exit status: 0 when there is no error, 2 otherwise.

Examples:
  muster validate job.yaml --strict
  muster validate --anywhere examples/*.yaml
)";

struct ValidateOptions {
    ManifestOptions manifest;
    bool quiet = false;
};

int validate(const ValidateOptions& options) {
    const control_plane::Caller caller =
        control_plane::with_own_programs(control_plane::current_caller());
    Prepared prepared =
        prepare(options.manifest, caller, *control_plane::make_real_machine(caller.environment));
    for (const manifest::Problem& problem : prepared.problems)
        fmt::print(stderr, "{}\n", format(problem));
    // No node is there, of which it would be known.
    for (manifest::Problem& problem : prepared.problems_with_own_tmp) {
        problem.severity = manifest::Severity::kWarning;
        fmt::print(stderr, "{}\n", format(problem));
    }
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
    }
    std::optional<std::string> finish(const Flags&) override {
        return manifest_.finish(options_.manifest);
    }
    int run() override { return validate(options_); }

  private:
    ManifestFlags manifest_;
};

}  // namespace

std::unique_ptr<Verb> validate_verb() { return std::make_unique<ValidateVerb>(); }

}  // namespace muster::cli
