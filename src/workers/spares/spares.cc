#include "workers/spares/spares.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>

#include "base/async/first_of.h"
#include "base/log.h"
#include "base/text_files.h"
#include "base/time/restarting_task.h"
#include "process/program_file.h"
#include "workers/worker/worker_set_state.h"

namespace muster::workers {

namespace {

/// How often a spare that ends by itself is replaced while a set runs.
constexpr int kReplacements = 3;
/// In the job's directory: the modules to import, without those that prevent warm starts.
constexpr const char* kReducedList = "spare-modules.json";
/// The most modules that are left out, one after the other; after that there is no spare.
constexpr std::size_t kExcluded = 16;

Result<std::pair<UniqueFd, UniqueFd>> make_stream_pair() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) < 0)
        return system_error("making a pair of sockets", errno);
    return std::pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// A name that can't collide with what an earlier agent may have left.
std::string free_name(const std::filesystem::path& directory) {
    for (int i = 0;; ++i) {
        std::string name = fmt::format("spare-{}", i);
        std::error_code error;
        if (!std::filesystem::exists(directory / (name + ".sock"), error) &&
            !std::filesystem::exists(directory / (name + ".progress"), error))
            return name;
    }
}

OutputOrder waiting_output(bool inherited) { return {.inherit = inherited}; }

}  // namespace

Spares::Spares(asio::any_io_executor executor, Clock& clock, Signal& changed, SpareOptions options,
               SpareSurroundings surroundings)
    : executor_(executor),
      clock_(clock),
      options_(std::move(options)),
      around_(std::move(surroundings)),
      changed_(changed),
      import_list_(executor, options_.imports),
      tasks_(executor) {
    spawn_restarting(tasks_, clock_, "keep spares", [this] { return keep(); });
    spawn_restarting(tasks_, clock_, "see workers begin", [this] { return see_begin(); });
}

void Spares::want(std::vector<SpareRecipe> recipes) {
    for (SpareRecipe& recipe : recipes) {
        const auto same = [&](const Place& place) {
            return place.recipe.local_rank == recipe.local_rank;
        };
        auto place = std::ranges::find_if(places_, same);
        if (place == places_.end()) place = places_.insert(places_.end(), Place{});
        place->recipe = std::move(recipe);
        place->lost = 0;
    }
    ++set_;
    running_ = true;
    begun_ = false;
    changed_.notify_all();
}

void Spares::pause() {
    running_ = false;
    begun_ = false;
    ++set_;
    import_list_.forget();
    changed_.notify_all();
}

Spare* Spares::take(const SpareRecipe& wanted) {
    const auto place = std::ranges::find_if(
        places_, [&](const Place& one) { return one.recipe.local_rank == wanted.local_rank; });
    // Its first start, or there are none for a reason that was logged.
    if (place == places_.end() || place->given_up) return nullptr;
    if (!place->spare || place->spare->gone()) {
        say("the spare was not made yet: this happens when a worker has started");
        return nullptr;
    }
    if (const std::string why = why_unfit(place->spare->recipe(), wanted); !why.empty()) {
        say(why);
        retire(std::move(place->spare));
        return nullptr;
    }
    place->judged = false;
    leaving_.push_back(std::move(place->spare));
    return leaving_.back().get();
}

void Spares::learn_from(const Spare& spare) {
    const auto place = std::ranges::find_if(places_, [&](const Place& one) {
        return one.recipe.local_rank == spare.recipe().local_rank;
    });
    if (place != places_.end() && spare.ready()) (void)keeps(*place, *spare.ready());
}

void Spares::forget(Spare* spare) {
    std::erase_if(leaving_, [&](const auto& one) { return one.get() == spare; });
}

void Spares::drop(Spare* spare) {
    spawn_restarting(tasks_, clock_, "end a spare", [this, spare] { return end_one(spare); });
}

void Spares::say(const std::string& why) {
    if (said_.insert(cause_of(why)).second) log::warning("workers start cold", {{"why", why}});
}

int Spares::ready() const {
    return static_cast<int>(std::ranges::count_if(places_, [](const Place& place) {
        return place.spare && place.spare->ready() && !place.spare->gone();
    }));
}

Task<void> Spares::end() {
    co_await tasks_.stop();
    for (Place& place : places_)
        if (place.spare) leaving_.push_back(std::move(place.spare));
    places_.clear();
    // Ask all at once, then wait for one after the other.
    for (const auto& spare : leaving_) spare->ask_to_end();
    while (!leaving_.empty()) {
        co_await leaving_.back()->end();
        remove_files(*leaving_.back());
        leaving_.pop_back();
    }
    ::unlink((around_.directory / kReducedList).c_str());
}

// ---- while workers run

Task<void> Spares::keep() {
    for (;;) {
        look();
        co_await changed_.wait();
    }
}

Task<void> Spares::another_set(std::uint64_t set) {
    while (set == set_) co_await changed_.wait();
}

/// Waits until the workers of each set have started.
Task<void> Spares::see_begin() {
    for (;;) {
        while (!running_ || begun_) co_await changed_.wait();
        const std::uint64_t set = set_;
        co_await first_of(first_of(import_list_.written(), clock_.sleep_for(options_.patience)),
                          another_set(set));
        if (set == set_ && !knows_modules()) {
            say(fmt::format(
                "no spare yet: the modules to import are not known until the hook has seen an "
                "optimizer step or the end of a worker; to list them: --warm=MODULE,..."));
            co_await first_of(import_list_.written(), another_set(set));
        }
        if (set != set_) continue;
        begun_ = true;
        changed_.notify_all();
    }
}

bool Spares::knows_modules() const { return !options_.modules.empty() || import_list_.exists(); }

void Spares::look() {
    for (Place& place : places_) look_at(place);
}

void Spares::look_at(Place& place) {
    if (place.spare && place.spare->gone())
        lose_at(place);
    else if (place.spare && place.spare->ready() && !place.judged)
        judge_at(place);
    if (place.spare || place.given_up || !running_ || !begun_) return;
    Result<std::unique_ptr<Spare>> made = make(place.recipe);
    place.judged = false;
    if (made) {
        place.spare = *std::move(made);
    } else {
        place.given_up = true;
        say("spares can't be made: " + made.error().message());
    }
}

void Spares::judge_at(Place& place) {
    place.judged = true;
    if (keeps(place, *place.spare->ready())) return;
    retire(std::move(place.spare));
}

/// Whether the spare with this report may become a worker. What it teaches applies to later spares.
bool Spares::keeps(Place& place, const SpareReady& ready) {
    const SpareVerdict verdict = judge(ready);
    using Kind = SpareVerdict::Kind;
    if (verdict.kind == Kind::kKeep) {
        if (!ready.note.empty())
            log::info("a spare could not import all modules", {{"why", ready.note}});
        return true;
    }
    if (verdict.kind == Kind::kWithout && excluded_.size() < kExcluded) {
        // Other spares may have met the same module.
        if (excluded_.insert(verdict.module).second)
            log::warning("a module is left out of warm spares",
                         {{"module", verdict.module}, {"why", verdict.why}});
    } else {
        place.given_up = true;
        say("there will be no spare: " + verdict.why);
    }
    return false;
}

void Spares::lose_at(Place& place) {
    log::info("a spare was lost",
              {{"local_rank", place.recipe.local_rank}, {"why", place.spare->why_gone()}});
    if (++place.lost > kReplacements) {
        place.given_up = true;
        say(fmt::format("there will be no spare: {} of them ended by themselves, the last: {}",
                        place.lost, place.spare->why_gone()));
    }
    retire(std::move(place.spare));
}

Result<std::unique_ptr<Spare>> Spares::make(const SpareRecipe& recipe) {
    std::vector<std::string> modules = options_.modules;
    std::erase_if(modules, [this](const std::string& name) { return excluded_.contains(name); });
    TRY(const std::string imports, import_list());
    const std::string name = free_name(around_.directory);
    WorkerRecord record{.local_rank = recipe.local_rank,
                        .socket = name + ".sock",
                        .progress = around_.directory / (name + ".progress")};
    if (!around_.parent_group.empty())
        record.group = fmt::format("{}/{}-{}", around_.parent_group,
                                   around_.directory.filename().string(), name);
    TRY(ProgressFile progress, ProgressFile::create(record.progress));
    ShimOrder order;
    for (const auto& [variable, value] : recipe.environment)
        order.environment.push_back(fmt::format("{}={}", variable, value));
    order.candidates =
        process::program_candidates(recipe.head[0], process::path_of(order.environment));
    order.environment.push_back("MUSTER_PROGRESS=" + record.progress);
    order.arguments = spare_command(recipe, options_.zygote, modules, imports);
    const auto [out, error] = around_.inherited(recipe.local_rank);
    order.out = waiting_output(out);
    order.error = waiting_output(error);
    order.directory = around_.directory;
    order.socket = record.socket;
    order.files = {name + ".progress"};
    order.record = kWorkerSetStateName;
    order.keep = around_.keep;
    order.group = record.group;
    order.cpus = recipe.placement.cpus;
    order.memory = recipe.placement.memory;
    order.nodes = recipe.placement.nodes;
    order.orphan_grace_ms = around_.orphan_grace_ms;
    order.core_bytes = around_.core_bytes;
    order.spare = true;
    TRY(auto ends, make_stream_pair());
    TRY(StartedShim shim, start_shim({.program = around_.shim_program,
                                      .directory = around_.directory_fd,
                                      .input = recipe.local_rank == 0 ? around_.input : -1,
                                      .spare = ends.second.get()},
                                     order));
    auto spare =
        std::make_unique<Spare>(executor_, clock_, recipe, std::move(record), std::move(progress),
                                std::move(shim), std::move(ends.first), changed_, around_.killed);
    spare->listen();
    return spare;
}

Result<std::string> Spares::import_list() const {
    if (!import_list_.exists()) return std::string();
    if (excluded_.empty()) return options_.imports.string();
    TRY(const std::string all, read_text(options_.imports));
    auto kept = without_modules(all, excluded_);
    if (!kept) return std::move(kept).error().prefix(options_.imports.string());
    const std::filesystem::path file = around_.directory / kReducedList;
    std::ofstream written(file, std::ios::binary);
    if (!(written << *kept << std::flush)) return system_error("writing " + file.string(), errno);
    return file.string();
}

void Spares::retire(std::unique_ptr<Spare> spare) {
    leaving_.push_back(std::move(spare));
    drop(leaving_.back().get());
}

Task<void> Spares::end_one(Spare* spare) {
    // After a fault, another may have ended it meanwhile.
    if (std::ranges::find(leaving_, spare, &std::unique_ptr<Spare>::get) == leaving_.end())
        co_return;
    co_await spare->end();
    remove_files(*spare);
    forget(spare);
    changed_.notify_all();
}

void Spares::remove_files(const Spare& spare) const {
    ::unlink((around_.directory / spare.record().socket).c_str());
    ::unlink(spare.record().progress.c_str());
}

}  // namespace muster::workers
