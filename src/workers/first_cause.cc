#include "workers/first_cause.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/signal_name.h"

namespace muster::workers {

namespace {

bool failed(const WorkerEnd& end) { return end.exit_code != 0; }

/// The lower, the more likely the cause.
int suspicion(const WorkerEnd& end) {
    if (end.out_of_memory) return 0;
    const bool from_outside = comes_from_outside(end.signal);
    if (!end.exit_code && !from_outside && end.signal != SIGABRT) return 1;
    if (!end.error.empty()) return 2;
    // A library that loses its peers aborts.
    return from_outside ? 4 : 3;
}

/// What libraries say when it is another worker that has gone.
constexpr std::string_view kLostPeer[] = {"Connection reset by peer",
                                          "Connection closed by peer",
                                          "Connection refused",
                                          "Connection was likely closed",
                                          "Broken pipe",
                                          "ncclRemoteError",
                                          "DistNetworkError",
                                          "recvValue failed",
                                          "Timed out waiting"};

/// Whether the end of another worker may well have caused this one.
bool may_follow(const WorkerEnd& end) {
    const bool asked_to_end = end.signal != SIGKILL && comes_from_outside(end.signal);
    if (!end.exit_code && end.signal != SIGABRT && !asked_to_end) return false;
    const auto is_said = [&end](std::string_view text) {
        return end.error.find(text) != std::string::npos;
    };
    return end.error.empty() || std::ranges::any_of(kLostPeer, is_said);
}

auto order(const WorkerEnd& end) {
    return std::tuple(may_follow(end), end.when, suspicion(end), end.rank);
}

std::string indented(std::string_view text) {
    std::string result;
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    for (const char letter : text) {
        result += letter;
        if (letter == '\n') result += "    ";
    }
    return result;
}

std::string section(const Failure& failure, const std::string& host) {
    const WorkerEnd& end = failure.end;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(end.when);
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(end.when - seconds);
    std::string text = fmt::format(
        "  rank {} (local rank {}) on {}: {}\n"
        "    time       {:%Y-%m-%d %H:%M:%S}.{:03} UTC\n"
        "    pid        {}\n",
        end.rank, end.local_rank, host, describe_status(end), seconds, rest.count(), end.pid);
    if (!end.error_file.empty()) text += fmt::format("    error file {}\n", end.error_file);
    if (end.steps > 0) text += fmt::format("    steps      {}\n", end.steps);
    if (!failure.traceback.empty())
        text += fmt::format("    {}\n", indented(failure.traceback));
    else if (!end.error.empty())
        text += fmt::format("    {}\n", indented(end.error));
    else if (end.exit_code)
        text +=
            "    It left no error file: see its output, or decorate its main function with "
            "torch.distributed.elastic.multiprocessing.errors.record\n";
    return text;
}

}  // namespace

std::optional<std::size_t> first_cause(std::span<const WorkerEnd> ends) {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < ends.size(); ++i)
        if (failed(ends[i]) && (!first || order(ends[i]) < order(ends[*first]))) first = i;
    return first;
}

std::string describe_status(const WorkerEnd& end) {
    if (end.exit_code) return fmt::format("exit code {}", *end.exit_code);
    return fmt::format("{}{} (exit code {})", signal_name(end.signal),
                       end.out_of_memory ? ", out of memory" : "", 128 + end.signal);
}

std::string failure_report(const std::string& what, const std::string& host,
                           std::span<const Failure> failures) {
    std::vector<WorkerEnd> ends;
    for (const Failure& failure : failures) ends.push_back(failure.end);
    const auto cause = first_cause(ends);
    if (!cause) return {};
    std::string text =
        fmt::format("{} failed. The cause:\n{}", what, section(failures[*cause], host));
    bool more = false;
    for (std::size_t i = 0; i < failures.size(); ++i) {
        if (i == *cause || !failed(failures[i].end)) continue;
        if (!more) text += "Other failures, probably caused by it:\n";
        more = true;
        text += section(failures[i], host);
    }
    return text;
}

}  // namespace muster::workers
