#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/visible_text.h"
#include "cli/internal/archive/extraction.h"
#include "cli/internal/archive/local_archive.h"
#include "cli/internal/archive/tar_reader.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/pods/copy_words.h"
#include "cli/internal/pods/find_container.h"
#include "cli/internal/pods/remote_command.h"
#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCpHelp =
    R"(Copies a file or a directory between this machine and a container of a job or a pod.

Usage: muster cp WHERE:PATH PATH [FLAGS]
       muster cp PATH WHERE:PATH [FLAGS]

WHERE is a job, JOB/REPLICA, or a pod, as in 'muster exec'. A path of this machine with a colon is written as
./a:b. The container must have tar. A file that is copied to a directory goes into it; a directory that is copied
from a container becomes the target, with what is in it.

      --rank N               in the pod of rank N
  -c, --container NAME       default: as in 'muster exec'
      --no-preserve          in the container, files get its user and its usual permissions
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

Nothing that a container sends is written outside of the target: links are left out, and none is followed.

Exit status: 0; 1 when something was not copied.

Examples:
  muster cp digits:/tmp/checkpoint ./checkpoint
  muster cp data.csv digits/worker-1:/tmp/
)";

constexpr const char* kCpVerb = "cp";
/// Of what tar says.
constexpr std::size_t kMostWords = std::size_t{64} * 1024;
constexpr std::size_t kUploadPiece = std::size_t{32} * 1024;

struct CpOptions {
    ServerOptions server;
    CopyWords copy;
    ContainerChoice choice;
    bool preserve = true;
};

Task<Result<std::unique_ptr<RemoteCommand>>> start_command(Connection& connection,
                                                           ChosenContainer where,
                                                           std::vector<std::string> words,
                                                           bool input) {
    auto started = co_await RemoteCommand::start(connection, where.namespace_, where.pod,
                                                 {.container = where.container,
                                                  .command = std::move(words),
                                                  .input = input,
                                                  .output = true,
                                                  .error = true});
    co_return started;
}

void tell_notes(const std::vector<std::string>& notes) {
    for (const std::string& note : notes)
        fmt::print(stderr, "muster cp: left out: {}\n", visible_text(note));
}

/// How tar ended, with what it said.
Result<int> judged(const Result<int>& status, const std::string& said) {
    if (!status)
        return Error(Code::kInvalid,
                     fmt::format("tar can't be run in the container, which needs it: {}",
                                 status.error().message()));
    if (*status != 0)
        return Error(Code::kInvalid, fmt::format("tar in the container ended with status {}{}{}",
                                                 *status, said.empty() ? "" : ": ", said));
    if (!said.empty()) fmt::print(stderr, "{}", visible_text(said));
    return 0;
}

/// Where the first member says what is copied: a file goes into a directory that is there.
std::string local_target(const CopyWords& copy, const TarEntry& first) {
    std::error_code ignored;
    const bool into = copy.to.path.ends_with('/') || fs::is_directory(copy.to.path, ignored);
    if (first.kind != TarEntry::Kind::kFile || !into) return copy.to.path;
    return (fs::path(copy.to.path) / last_name(copy.from.path)).string();
}

/// Writes what an archive has.
class Download {
  public:
    Download(const CopyWords& copy, std::string prefix) : copy_(copy), prefix_(std::move(prefix)) {}

    Result<void> take(std::string_view bytes) {
        reader_.put(bytes);
        for (;;) {
            TRY(const auto event, reader_.next());
            if (!event) return {};
            if (event->entry) {
                if (!to_) TRY_VOID(begin(*event->entry));
                TRY_VOID(to_->begin(*event->entry));
            } else {
                TRY_VOID(to_->write(event->data));
            }
        }
    }
    Result<void> finish() {
        if (!to_) return Error(Code::kNotFound, "nothing was copied");
        TRY_VOID(to_->finish());
        if (!reader_.ended())
            return Error(Code::kInvalid, "the archive is cut short: not all was copied");
        if (to_->files() == 0 && !to_->notes().empty())
            return Error(Code::kInvalid, "nothing was copied");
        return {};
    }
    const std::vector<std::string>& notes() const {
        static const std::vector<std::string> kNone;
        return to_ ? to_->notes() : kNone;
    }

  private:
    Result<void> begin(const TarEntry& first) {
        const std::string target = local_target(copy_, first);
        std::error_code failed;
        fs::create_directories(parent_of(target), failed);
        if (failed) return system_error("making " + parent_of(target), failed.value());
        to_.emplace(target, prefix_);
        return {};
    }

    const CopyWords& copy_;
    const std::string prefix_;
    TarReader reader_;
    std::optional<Extraction> to_;
};

Task<Result<int>> download(Connection& connection, const CpOptions& options,
                           ChosenContainer where) {
    RemoteArchive archive = remote_archive(options.copy.from.path);
    CO_TRY(auto command,
           co_await start_command(connection, where, std::move(archive.command), false));
    Download to(options.copy, std::move(archive.prefix));
    std::string said;
    for (;;) {
        CO_TRY(const auto piece, co_await command->read());
        if (!piece) break;
        if (!piece->error)
            CO_TRY_VOID(to.take(piece->bytes));
        else if (said.size() < kMostWords)
            said += piece->bytes;
    }
    tell_notes(to.notes());
    CO_TRY(const int status, judged(command->end(), said));
    CO_TRY_VOID(to.finish());
    co_return status;
}

/// What is sent to a container; owned by the connection, whose task sends it.
struct Upload {
    std::unique_ptr<RemoteCommand> command;
    LocalArchive archive;
    std::optional<Error> failure = {};

    Task<void> send() {
        for (;;) {
            Result<std::string> piece = archive.next();
            // Without its end, tar does not take the archive for whole.
            if (!piece) failure = piece.error();
            if (!piece || piece->empty()) break;
            for (std::size_t at = 0; at < piece->size(); at += kUploadPiece)
                if (!co_await command->write(piece->substr(at, kUploadPiece))) co_return;
        }
        std::ignore = co_await command->close_input();
    }
};

Task<Result<bool>> is_directory(Connection& connection, ChosenContainer where, std::string path) {
    CO_TRY(auto command, co_await start_command(connection, std::move(where),
                                                {"test", "-d", std::move(path)}, false));
    const auto answer = co_await output_of(*command, kMostWords);
    // A container without 'test' may have tar all the same.
    co_return answer && answer->status == 0;
}

Task<Result<int>> upload(Connection& connection, const CpOptions& options, ChosenContainer where) {
    const std::string& from = options.copy.from.path;
    const std::string& to = options.copy.to.path;
    CO_TRY(const bool into, co_await is_directory(connection, where, to));
    if (!into && to.ends_with('/'))
        co_return Error(Code::kNotFound,
                        fmt::format("there is no directory {} in pod {}", to, where.pod));
    std::error_code ignored;
    const std::string name = into ? last_name(fs::absolute(from, ignored).string()) : last_name(to);
    if (name.empty())
        co_return Error(Code::kInvalid,
                        fmt::format("{} has no name to be copied by", into ? from : to));
    CO_TRY(LocalArchive archive, LocalArchive::open(from, name));
    std::vector<std::string> words{"tar"};
    if (!options.preserve) {
        words.emplace_back("--no-same-permissions");
        words.emplace_back("--no-same-owner");
    }
    for (const char* word : {"-xmf", "-", "-C"}) words.emplace_back(word);
    words.push_back(into ? to : parent_of(to));
    CO_TRY(auto command, co_await start_command(connection, where, std::move(words), true));
    auto sent = std::make_shared<Upload>(std::move(command), std::move(archive));
    connection.keep(sent);
    connection.tasks().spawn_essential("archive", sent->send());
    std::string said;
    for (;;) {
        CO_TRY(const auto piece, co_await sent->command->read());
        if (!piece) break;
        if (said.size() < kMostWords) said += piece->bytes;
    }
    tell_notes(sent->archive.notes());
    if (sent->failure) co_return *sent->failure;
    co_return judged(sent->command->end(), said);
}

Task<Result<int>> copy_files(Connection& connection, const CpOptions& options) {
    const bool down = options.copy.to.pod.empty();
    const std::string& about = down ? options.copy.from.pod : options.copy.to.pod;
    CO_TRY(ChosenContainer where, co_await find_container(connection, about, options.choice));
    if (!where.note.empty()) fmt::print(stderr, "muster cp: {}\n", where.note);
    if (down) co_return co_await download(connection, options, std::move(where));
    co_return co_await upload(connection, options, std::move(where));
}

class CpVerb final : public VerbOf<CpOptions> {
  public:
    CpVerb() : VerbOf("cp", kCpHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        flags.words("words", words_);
        flags.value("--rank", options_.choice.rank);
        flags.value("--container,-c", options_.choice.container);
        flags.flag("!--no-preserve", options_.preserve);
    }
    std::optional<std::string> finish(const Flags&) override {
        auto copy = parse_copy_words(words_);
        if (!copy) return copy.error().message();
        options_.copy = *std::move(copy);
        return std::nullopt;
    }
    int run() override {
        return on_server(kCpVerb, options_.server, [this](Connection& connection) {
            return copy_files(connection, options_);
        });
    }

  private:
    std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Verb> cp_verb() { return std::make_unique<CpVerb>(); }

}  // namespace muster::cli
