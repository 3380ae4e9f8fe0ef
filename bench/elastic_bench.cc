// Jobs without a program, for elastic_cases.py: a master, many agents, an agent with real workers.
//     elastic_bench master AGENTS FOLDER [CERTIFICATE KEY]
//     elastic_bench agents COUNT PORT [CA]
//     elastic_bench workers PORT FOLDER
//     elastic_bench probe PORT TOKEN

#include "elastic_bench.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/text_files.h"
#include "elastic_main.h"

namespace muster::elastic {

void report(std::string_view what, double value) {
    fmt::print("{{\"what\": \"{}\", \"value\": {:.9f}}}\n", what, value);
    std::fflush(stdout);
}

void die(std::string_view what) {
    fmt::print(stderr, "elastic_bench: {}\n", what);
    std::exit(1);
}

std::string must_read(const std::string& path) { return must(read_text(path), path); }

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }
double seconds(Instant time) { return seconds(time.time_since_epoch()); }

struct Commands::State {
    explicit State(const asio::any_io_executor& executor) : input(executor, ::dup(STDIN_FILENO)) {}
    asio::posix::stream_descriptor input;
};

Commands::Commands(const asio::any_io_executor& executor)
    : state_(std::make_unique<State>(executor)) {}
Commands::~Commands() = default;

Task<char> Commands::next() {
    char letter = 0;
    boost::system::error_code ended;
    co_await state_->input.async_read_some(asio::buffer(&letter, 1),
                                           asio::redirect_error(asio::use_awaitable, ended));
    co_return ended ? '\0' : letter;
}

namespace {

/// A connection is a descriptor on each side.
void allow_descriptors() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

int number(const std::string& text) {
    const int value = std::atoi(text.c_str());
    if (value < 1) die(text + " is no number");
    return value;
}

}  // namespace

int run(int argc, char** argv) {
    allow_descriptors();
    const std::vector<std::string> words(argv + 1, argv + argc);
    const std::string mode = words.empty() ? "" : words[0];
    if (mode == "master" && (words.size() == 3 || words.size() == 5)) {
        serve_master(number(words[1]), words[2],
                     words.size() == 5 ? Files{words[3], words[4]} : Files());
    } else if (mode == "agents" && (words.size() == 3 || words.size() == 4)) {
        run_agents(number(words[1]), number(words[2]), words.size() == 4 ? words[3] : "");
    } else if (mode == "workers" && words.size() == 3) {
        run_workers(number(words[1]), words[2]);
    } else if (mode == "probe" && words.size() == 3) {
        probe_master(number(words[1]), words[2]);
    } else {
        die("master AGENTS FOLDER [CERTIFICATE KEY], agents COUNT PORT [CA], workers PORT FOLDER, "
            "or probe PORT TOKEN");
    }
    return 0;
}

}  // namespace muster::elastic
