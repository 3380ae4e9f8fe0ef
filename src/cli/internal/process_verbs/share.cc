#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/share/share_session.h"
#include "cli/internal/share/share_words.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "process/core_dumps.h"

namespace muster::cli {

namespace {

constexpr std::string_view kShareHelp =
    R"(Runs a command several times at once, so that one GPU or machine is shared by several processes.

Usage: muster share --processes N [FLAGS] [--] COMMAND [ARGUMENT...]

Each process gets its number and how many there are, as the last words of the command and as variables,
CPUs of its own, and its share of a GPU's memory. Its lines are shown with its number before them. When
one fails, the others are ended, and its exit status is that of all. It needs no server and no manifest:
in a pod of any kind it goes before the command, in the place of a start script.

      --processes N, -n N    how many, from 1 to 256
      --names INDEX,NUM      what they are called: default process_index,process_num, which are the words
                             --process_index I --process_num N and the variables PROCESS_INDEX and
                             PROCESS_NUM
      --no-words             no words are added: only the variables
      --cpus apart|shared    apart (default): each has CPUs that no other one has, whole cores and
                             neighbours where that is possible, as long as there are enough; shared: any
      --gpu-memory SHARE     what each has of a GPU's memory. auto (default): JAX an equal share, TensorFlow
                             what it uses; none: nothing is set; a fraction such as 0.4: JAX, and PyTorch
                             2.10 or later too; a size such as 8Gi: with --mps, for every CUDA program.
                             What your environment sets already stays
      --mps                  start NVIDIA's MPS for these processes alone, and end it with them: they
                             compute at the same time in place of by turns
      --grace DURATION       from SIGTERM to SIGKILL (default 30s)
      --dry-run              print what each would be started with, and stop

Signals: the first SIGTERM, SIGINT, SIGHUP or SIGQUIT is passed on, and after the grace what is left is
killed; a second one kills at once. SIGUSR1 and SIGUSR2 are passed on. If muster itself is killed, its
processes are killed too, with all that they have started. They have no standard input.

Exit status: 0 when all have ended with 0; that of the first that failed otherwise (128 + signal if a signal
ended it); 128 + the signal that was passed on, so 130 after Ctrl-C; 2 when nothing was started.

Examples:
  muster share -n 2 -- python3 train.py --epochs 3
  muster share -n 4 --names rank,world_size --no-words -- python3 train.py
  muster share -n 2 --gpu-memory 0.4 -- python3 train.py
  muster share -n 3 --mps --gpu-memory 8Gi -- python3 train.py
)";

launch::Variables variables_of(const control_plane::Caller& caller) {
    launch::Variables variables;
    for (const std::string& entry : caller.environment)
        if (const std::size_t equals = entry.find('='); equals != entry.npos)
            variables.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
    return variables;
}

class ShareVerb final : public VerbOf<ShareOptions> {
  public:
    ShareVerb() : VerbOf("share", kShareHelp) {}

    std::vector<std::string> to_flags(std::vector<std::string> words) override {
        ShareWords split = split_command(std::move(words), {"-n", "--processes", "--names",
                                                            "--cpus", "--gpu-memory", "--grace"});
        options_.command = std::move(split.command);
        return std::move(split.flags);
    }
    void declare(Flags& flags) override {
        flags.value("--processes,-n", processes_);
        flags.value("--names", names_);
        flags.flag("--no-words", no_words_);
        flags.value("--cpus", cpus_);
        flags.value("--gpu-memory", gpu_memory_);
        flags.flag("--mps", options_.mps);
        flags.value("--grace", grace_);
        flags.flag("--dry-run", options_.dry_run);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (!processes_) return "say how many processes: --processes N";
        if (*processes_ < 1 || *processes_ > kMostShared)
            return fmt::format("--processes wants a number from 1 to {}, not {}", kMostShared,
                               *processes_);
        options_.processes = *processes_;
        if (options_.command.empty()) return "say what to run: muster share -n 2 -- COMMAND...";
        if (!names_.empty())
            if (auto wrong = read_names(names_, options_.index_name, options_.count_name))
                return wrong;
        options_.words = !no_words_;
        if (cpus_ != "apart" && cpus_ != "shared")
            return fmt::format("--cpus wants apart or shared, not \"{}\"", cpus_);
        options_.bind = cpus_ == "apart";
        if (auto wrong = read_gpu_memory(gpu_memory_, options_.gpu_memory)) return wrong;
        if (options_.gpu_memory.kind == GpuMemoryWish::Kind::kBytes && !options_.mps)
            return fmt::format(
                "--gpu-memory {}: only MPS holds processes to a size. Add --mps, or write a "
                "fraction such as 0.4",
                gpu_memory_);
        std::optional<std::chrono::nanoseconds> grace;
        if (auto wrong = read_duration("--grace", grace_, "10s or 1m30s", grace)) return wrong;
        if (grace) options_.grace = *grace;
        return std::nullopt;
    }
    int run() override {
        // Before anything else is in memory: the environment may have keys.
        const rlim_t core_bytes = process::forbid_core_dumps();
        return run_share(options_, {.variables = variables_of(control_plane::current_caller()),
                                    .core_bytes = core_bytes});
    }

  private:
    std::optional<int> processes_;
    std::string names_;
    bool no_words_ = false;
    std::string cpus_ = "apart";
    std::string gpu_memory_;
    std::string grace_;
};

}  // namespace

std::unique_ptr<Verb> share_verb() { return std::make_unique<ShareVerb>(); }

}  // namespace muster::cli
