#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/explain/field_page.h"
#include "cli/internal/explain/job_explanation.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/prepare/prepare.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/machine.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::cli {

namespace {

constexpr std::string_view kExplainHelp =
    R"(Explains what a manifest leads to, or what a field means.

Usage: muster explain FILE... [FLAGS]        FILE may be - for standard input
       muster explain KIND[.FIELD...] [FLAGS]

For a manifest: what each job has beside its pods (ConfigMaps, keys, roles, services), and for each replica type
the pod as it would be created, the variables that all of its ranks share and those that differ, each with the
rule that sets it. Nothing is started, and this machine is not examined.

      --rank TYPE-INDEX      one rank only, in full, as in worker-3 or launcher
      --in-pods-image IMAGE  as on a cluster whose operator has this flag: also show what pods get
                             from that image
  -o, --output json|yaml     every rank in full, for programs
  -f, --filename FILE        another way to name a manifest; may be repeated

For a field: its type, what it means, its limits, and the fields in it. Lists and maps take no index. The kinds are
those of jobs and the built-in ones.

      --recursive            all fields below it, without descriptions
      --api-version VERSION  of a kind that has several, as in kubeflow.org/v1

Examples:
  muster explain job.yaml
  muster explain job.yaml --rank worker-3
  muster explain pytorchjob.spec.elasticPolicy
  muster explain mpijob.spec.runPolicy --recursive

Exit status: 0; 2 when the manifest is wrong, or there is no such rank or field.
)";

int refuse(const std::string& message) {
    fmt::print(stderr, "muster explain: {}\n", message);
    return 2;
}

int explain_path(const ExplainOptions& options) {
    const auto page =
        field_page(kinds_with_fields(), options.path, options.api_version, options.recursive);
    if (!page) return refuse(page.error().message());
    print(*page);
    return 0;
}

/// The jobs of the files as this machine would run them, or a cluster whose operator has an image
/// to provide.
std::vector<jobs::Job> jobs_of(const Prepared& prepared, const std::string& image) {
    std::vector<jobs::Job> found;
    for (const manifest::CheckedObject& object : prepared.objects) {
        if (!object.job) continue;
        found.push_back(*object.job);
        jobs::Platform& platform = found.back().platform;
        platform.program_image = image;
        platform.node_program = image.empty() ? control_plane::own_program() : std::string();
        platform.cluster = !image.empty();
        platform.agent_tokens = image.empty();
        platform.pods_reach_api = !image.empty();
        jobs::apply_defaults(found.back());  // which depend on the platform
    }
    return found;
}

Result<std::string> text_of(const std::vector<jobs::Job>& jobs, const std::string& rank) {
    std::string out;
    for (const jobs::Job& job : jobs) {
        const auto replica = find_rank(job, rank);
        if (!rank.empty() && !replica) continue;
        if (!out.empty()) out += '\n';
        if (replica) {
            TRY(const ExplainedPod pod, explain_pod(job, *replica));
            out += explanation_text(job, pod);
        } else {
            TRY(const std::string text, explanation_text(job));
            out += text;
        }
    }
    return out;
}

Result<std::string> objects_of(const std::vector<jobs::Job>& jobs, const ExplainOptions& options) {
    std::vector<json::value> all;
    for (const jobs::Job& job : jobs) {
        const auto replica = find_rank(job, options.rank);
        if (!options.rank.empty() && !replica) continue;
        TRY(json::value one, explanation_json(job, replica));
        all.push_back(std::move(one));
    }
    if (options.output == OutputFormat::kYaml) return print_objects(all, OutputFormat::kYaml);
    return all.size() == 1 ? manifest::to_pretty_json(all.front())
                           : manifest::to_pretty_json(json::array(all.begin(), all.end()));
}

std::string no_such_rank(const std::vector<jobs::Job>& jobs, const std::string& rank) {
    std::string known;
    for (const jobs::Job& job : jobs)
        for (const jobs::ReplicaType& type : job.kind->replica_types) {
            const jobs::ReplicaSpec* spec = job.replica(type.name);
            const std::int32_t count = spec == nullptr ? 0 : spec->replicas.value_or(0);
            if (count == 0) continue;
            known += (known.empty() ? "" : ", ") + rank_name(*job.kind, {type.name, 0});
            if (count > 1) known += " to " + rank_name(*job.kind, {type.name, count - 1});
        }
    return fmt::format("there is no rank \"{}\"; there are {}", rank, known);
}

int explain_files(const ExplainOptions& options) {
    const control_plane::Caller caller = control_plane::current_caller();
    ManifestOptions manifest;
    manifest.files = options.files;
    manifest.any_machine = true;
    const Prepared prepared =
        prepare(manifest, caller, *control_plane::make_real_machine(caller.environment));
    for (const manifest::Problem& problem : prepared.problems)
        fmt::print(stderr, "{}\n", format(problem));
    if (manifest::has_errors(prepared.problems))
        return refuse(manifest::count_problems(prepared.problems));
    const std::vector<jobs::Job> jobs = jobs_of(prepared, options.in_pods_image);
    if (jobs.empty()) return refuse("the files hold no job");
    const auto text = options.output == OutputFormat::kNone ? text_of(jobs, options.rank)
                                                            : objects_of(jobs, options);
    if (!text) return refuse(text.error().message());
    const bool found = options.rank.empty() || std::ranges::any_of(jobs, [&](const jobs::Job& job) {
                           return find_rank(job, options.rank).has_value();
                       });
    if (!found) return refuse(no_such_rank(jobs, options.rank));
    print(*text);
    return 0;
}

int explain(const ExplainOptions& options) {
    return options.path.empty() ? explain_files(options) : explain_path(options);
}

/// A path of fields has neither slashes nor the ending of a file.
bool is_field_path(std::string_view word) {
    for (const std::string_view ending : {".yaml", ".yml", ".json"})
        if (word.ends_with(ending)) return false;
    return word != "-" && word.find('/') == std::string_view::npos;
}

class ExplainVerb final : public VerbOf<ExplainOptions> {
  public:
    ExplainVerb() : VerbOf("explain", kExplainHelp) {}

    void declare(Flags& flags) override {
        flags.words("words", words_);
        flags.list("-f,--filename", options_.files);
        flags.value("--rank", options_.rank);
        flags.value("--in-pods-image", options_.in_pods_image);
        flags.value("--api-version", options_.api_version);
        flags.flag("--recursive", options_.recursive);
        flags.value("--output,-o", output_);
    }
    std::optional<std::string> finish(const Flags&) override {
        for (const std::string& word : words_) {
            if (!is_field_path(word))
                options_.files.push_back(word);
            else if (!std::exchange(options_.path, word).empty())
                return fmt::format("one field at a time; leave out \"{}\"", word);
        }
        if (options_.files.empty() == options_.path.empty())
            return options_.path.empty()
                       ? "name a manifest, or a field as in pytorchjob.spec.elasticPolicy"
                       : "name manifests or a field, not both";
        if (!options_.path.empty() &&
            (!options_.rank.empty() || !output_.empty() || !options_.in_pods_image.empty()))
            return "--rank, --in-pods-image and --output go with a manifest, not with a field";
        if (options_.path.empty() && (options_.recursive || !options_.api_version.empty()))
            return "--recursive and --api-version go with a field, not with a manifest";
        return read_output(output_, options_.output);
    }
    int run() override { return explain(options_); }

  private:
    std::vector<std::string> words_;  ///< files, or a path of fields
    std::string output_;
};

}  // namespace

std::unique_ptr<Verb> explain_verb() { return std::make_unique<ExplainVerb>(); }

}  // namespace muster::cli
