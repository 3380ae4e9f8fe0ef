#include "muster_run/node/error_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>

#include "base/log.h"
#include "base/unique_fd.h"
#include "workers/logs/log_plan.h"
#include "workers/shim/order.h"

namespace muster::run {

namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

/// 0, or the errno. In place, because the file may be a mount point such as a termination log.
int write_file(const fs::path& path, std::string_view content) {
    const UniqueFd file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600));
    if (!file) return errno;
    while (!content.empty()) {
        const ssize_t size = ::write(file.get(), content.data(), content.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return errno;
        content.remove_prefix(static_cast<std::size_t>(size));
    }
    return 0;
}

/// Empty, with errno, if there is none.
fs::path make_directory(const ErrorFilePlaces& places) {
    std::string name =
        places.temporary / fmt::format("muster_{}_XXXXXX", workers::directory_name(places.run_id));
    if (::mkdtemp(name.data()) == nullptr) return {};
    // One that can't be marked is not found by `muster clean`, and no worse.
    write_file(fs::path(name) / workers::kJobMarker, {});
    return name;
}

void warn(std::string_view what, const fs::path& path, int error) {
    log::warning(what, {{"path", path.string()}, {"error", ::strerrordesc_np(error)}});
}

int exit_code_of(const workers::WorkerEnd& end) { return end.exit_code.value_or(-end.signal); }

}  // namespace

void keep_error_files(std::vector<workers::Failure>& failures, const ErrorFilePlaces& places) {
    fs::path kept;
    for (workers::Failure& failure : failures) {
        std::string& path = failure.end.error_file;
        if (path.empty() || fs::path(path).parent_path() != places.job_dir) continue;
        path.clear();
        if (kept.empty()) kept = make_directory(places);
        if (kept.empty()) return warn("error files can't be kept", places.temporary, errno);
        const fs::path file = kept / fmt::format("error-{}.json", failure.end.rank);
        if (const int error = write_file(file, failure.content); error != 0)
            warn("an error file can't be kept", file, error);
        else
            path = file;
    }
}

std::string first_cause_content(const std::vector<workers::Failure>& failures) {
    std::vector<workers::WorkerEnd> ends;
    for (const workers::Failure& failure : failures) ends.push_back(failure.end);
    const auto cause = workers::first_cause(ends);
    if (!cause) return {};
    const workers::Failure& first = failures[*cause];
    boost::system::error_code error;
    json::value content = json::parse(first.content, error);
    json::object* const object = error ? nullptr : content.if_object();
    json::value* const message = object == nullptr ? nullptr : object->if_contains("message");
    if (message != nullptr) {
        if (json::object* const details = message->if_object())
            (*details)["errorCode"] = exit_code_of(first.end);
        return json::serialize(content);
    }
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(first.end.when.time_since_epoch());
    const std::string text = fmt::format("rank {} ended with {}{}{}", first.end.rank,
                                         workers::describe_status(first.end),
                                         first.end.error.empty() ? "" : ": ", first.end.error);
    return json::serialize(json::object{
        {"message",
         {{"message", text},
          {"extraInfo", {{"py_callstack", ""}, {"timestamp", fmt::format("{}", seconds.count())}}},
          {"errorCode", exit_code_of(first.end)}}}});
}

void report_first_cause(const std::vector<workers::Failure>& failures, const fs::path& file) {
    const std::string content = first_cause_content(failures);
    if (content.empty()) return;
    if (const int error = write_file(file, content); error != 0)
        warn("the first cause can't be written to TORCHELASTIC_ERROR_FILE", file, error);
}

}  // namespace muster::run
