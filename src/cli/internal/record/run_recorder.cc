#include "cli/internal/record/run_recorder.h"

#include <boost/json/serialize.hpp>

#include "base/time/time_limit.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/record/kept_environment.h"
#include "cli/internal/record/packages.h"
#include "cli/internal/run/submission.h"
#include "kube/values/document.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

/// The first lines of a program come before its record is complete.
constexpr Duration kBetweenSnapshots = std::chrono::milliseconds(500);
/// A snapshot costs at most this part of the time.
constexpr int kSnapshotShare = 20;
/// For the last one: a server that does not answer is not waited for.
constexpr Duration kLastPatience = std::chrono::seconds(2);
constexpr std::uint64_t kLogBytes = std::uint64_t{1} << 30;

int restarts_of(const std::vector<Verdict>& verdicts) {
    int restarts = 0;
    for (const Verdict& verdict : verdicts) restarts += verdict.restarts + verdict.group_restarts;
    return restarts;
}

/// That of the first that did not succeed.
std::string result_of(const std::vector<Verdict>& verdicts, int status, bool interrupted) {
    for (const Verdict& verdict : verdicts)
        if (!verdict.succeeded) return verdict.result;
    if (status == 0) return "succeeded";
    return interrupted ? "interrupted" : "failed";
}

}  // namespace

std::vector<json::value> kept_manifest(const std::vector<manifest::CheckedObject>& objects) {
    std::vector<json::value> kept;
    for (const manifest::CheckedObject& object : objects) {
        json::value copy = kube::copy_of(object.document.object);
        if (object.type.kind == "Secret")
            for (const char* part : {"data", "stringData"})
                if (json::object* data = kube::object_at(copy.get_object(), part))
                    for (auto& [key, value] : *data) value = kNotKept;
        kept.push_back(std::move(copy));
    }
    return kept;
}

RunRecorder::RunRecorder(std::optional<RunFolder> folder, RunRecord record,
                         control_plane::Caller caller,
                         const std::vector<manifest::CheckedObject>& objects)
    : folder_(std::move(folder)),
      record_(std::move(record)),
      caller_(std::move(caller)),
      places_(places_of(objects)) {
    for (const manifest::CheckedObject& object : objects)
        if (is_workload(object))
            record_.subjects.push_back({object.type.kind, object.namespace_, object.name});
    if (!folder_) return;
    record_.name = folder_->name();
    manifest_ = kept_manifest(objects);
    output_.emplace(folder_->path() / kOutputFile);
}

std::filesystem::path RunRecorder::logs_directory() const {
    return folder_ ? folder_->path() / kLogsDirectory : std::filesystem::path();
}

void RunRecorder::keep(const char* file, std::string_view text) {
    if (!folder_ || stopped_) return;
    if (Result<void> kept = folder_->write(file, text); !kept) {
        failure_ = kept.error();
        stopped_ = true;
    }
}

void RunRecorder::begin(pid_t pid) {
    record_.pid = pid;
    keep(kRunFile, json::serialize(to_json(record_)) + "\n");
}

void RunRecorder::keep_parts_for_later() {
    if (!folder_ || std::exchange(kept_parts_for_later_, true)) return;
    keep(kManifestFile, print_objects(manifest_, OutputFormat::kYaml));
    keep(kEnvironmentFile, kept_environment(caller_.environment));
    keep(kPackagesFile, installed_packages(python_of(manifest_, caller_), caller_));
}

void RunRecorder::add_output(std::string_view lines) {
    if (!output_ || stopped_) return;
    output_->write(lines);
    if (std::optional<Error> failed = output_->take_failure()) {
        failure_ = std::move(failed);
        stopped_ = true;
    }
}

Task<void> RunRecorder::take(kube::Client& client) {
    // One that can't be had now is had next time.
    Result<RunObjects> objects = co_await collect_run_objects(client, places_);
    if (objects) keep(kObjectsFile, to_text(*objects));
}

Task<void> RunRecorder::follow(RunSession& session, kube::Client& client, Clock& clock) {
    if (!folder_) co_return;
    co_await clock.sleep_for(kBetweenSnapshots);
    keep_parts_for_later();
    while (!stopped_) {
        const std::uint64_t seen = session.changes();
        const Instant began = clock.now();
        if (session.posted()) co_await take(client);
        co_await clock.sleep_for(
            std::max(kBetweenSnapshots, (clock.now() - began) * kSnapshotShare));
        while (session.changes() == seen) co_await session.changed().wait();
    }
}

Task<void> RunRecorder::take_last(kube::Client& client, Clock& clock) {
    if (!folder_ || stopped_) co_return;
    const auto last = [&]() -> Task<bool> {
        co_await take(client);
        co_return true;
    };
    (void)co_await within(clock, kLastPatience, last());
}

void RunRecorder::end(const RunSession& session, int status, WallTime now) {
    const bool interrupted = session.stopped() != RunSession::Stop::kNone;
    RunEnd end{.at = now,
               .status = status,
               .result = result_of(session.verdicts(), status, interrupted),
               .why = {},
               .restarts = restarts_of(session.verdicts())};
    for (const Verdict& verdict : session.verdicts())
        for (const Told& told : session.told(verdict)) end.why.push_back(told.text);
    end_as(std::move(end));
}

void RunRecorder::fail(const Error& error, WallTime now) {
    end_as({.at = now,
            .status = 1,
            .result = "failed",
            .why = {error.message()},
            .restarts = 0,
            .bytes = 0});
}

void RunRecorder::end_as(RunEnd end) {
    record_.end = std::move(end);
    if (!folder_) return;
    keep_parts_for_later();
    trim_files(logs_directory(), kLogBytes);
    record_.end->bytes = bytes_of_folder(folder_->path());
    keep(kRunFile, json::serialize(to_json(record_)) + "\n");
    remove_old_runs(folder_->path().parent_path(), {});
}

void RunRecorder::discard() {
    if (folder_) folder_->discard();
    stopped_ = true;
}

std::optional<Error> RunRecorder::take_failure() { return std::exchange(failure_, std::nullopt); }

}  // namespace muster::cli
