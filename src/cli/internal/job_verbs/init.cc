#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/visible_text.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/script/job_manifest.h"
#include "cli/internal/script/new_file.h"
#include "cli/internal/script/script_flags.h"
#include "cli/internal/script/script_job.h"
#include "cli/internal/script/script_words.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "manifest/adjust.h"

namespace muster::cli {

namespace {

constexpr std::string_view kInitHelp =
    R"(Writes the manifest of a job for a script, with comments at what people change first.

Usage: muster init [FLAGS] SCRIPT [ARGUMENTS]

Nothing is started: 'muster run' runs the manifest, here or on a cluster. A file that exists is never
overwritten.

  -o, --output FILE          the manifest (default: the job's name with .yaml); - for standard output
      --env NAME=VALUE       a variable of the program; may be repeated
      --framework, --workers, -n, --nproc-per-node, --servers, --cpus, --memory, --gpus, --image, --name,
      --max-restarts, --warm, --deadline, --priority, --label
                             as in 'muster run'

Exit status: 0; 2 when no job can be made of it, or the file exists.

Examples:
  muster init train.py
  muster init --workers 4 --gpus 8 --image team/train:3 train.py --lr 0.1
)";

struct InitOptions {
    ScriptOptions script;
    manifest::Adjustments adjustments;
    std::string file;
};

int refuse_init(const std::string& why) {
    fmt::print(stderr, "muster init: {}\n", visible_text(why));
    return 2;
}

int init(const InitOptions& options) {
    const control_plane::Caller caller = control_plane::current_caller();
    Result<ScriptJob> job =
        make_script_job(options.script, *control_plane::make_real_machine(caller.environment),
                        !options.script.request.image.empty());
    if (!job) return refuse_init(job.error().message());
    std::vector<manifest::Document> documents{std::move(job->document)};
    for (const manifest::Problem& problem : manifest::adjust(documents, options.adjustments))
        return refuse_init(format(problem));
    const json::object& made = documents.front().object.get_object();
    const std::string text = commented_manifest(made);
    if (options.file == "-") {
        print_exact(text);
        return 0;
    }
    const std::string name(made.at("metadata").at("name").get_string());
    const std::string file = options.file.empty() ? name + ".yaml" : options.file;
    if (Result<void> written = write_new_file(file, text); !written)
        return refuse_init(fmt::format("{}: {}", file, written.error().message()));
    fmt::print("{}\n{} is written; 'muster run {}' runs it\n", job->told, file, file);
    return 0;
}

class InitVerb final : public VerbOf<InitOptions> {
  public:
    InitVerb() : VerbOf("init", kInitHelp) {}

    void declare(Flags& flags) override {
        script_.declare(flags, options_.script);
        flags.value("--output,-o", options_.file, not_unnamed);
        flags.list("--env", env_);
        flags.flag("--warm", options_.script.request.warm);
        flags.words("words", words_);
    }
    std::vector<std::string> to_flags(std::vector<std::string> words) override {
        InitVerb same;
        ScriptLine line = take_script_line(words, same);
        options_.script.command = std::move(line.command);
        return std::move(line.flags);
    }
    std::optional<std::string> finish(const Flags& flags) override {
        if (options_.script.command.empty() && !words_.empty())
            return fmt::format("{} is no script and no program of this machine", words_.front());
        if (options_.script.command.empty()) return "name the script, as in 'muster init train.py'";
        if (auto wrong = script_.finish(flags, options_.script)) return wrong;
        for (const std::string& text : env_) {
            std::pair<std::string, std::string> variable;
            if (!manifest::split_assignment(text, variable))
                return fmt::format("--env wants NAME=VALUE, not \"{}\"", text);
            options_.adjustments.env.push_back(std::move(variable));
        }
        return std::nullopt;
    }
    int run() override { return init(options_); }

  private:
    ScriptFlags script_;
    std::vector<std::string> env_;
    std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Verb> init_verb() { return std::make_unique<InitVerb>(); }

}  // namespace muster::cli
