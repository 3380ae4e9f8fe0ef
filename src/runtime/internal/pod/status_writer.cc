#include "runtime/internal/pod/status_writer.h"

#include "base/log.h"
#include "base/time/restarting_task.h"
#include "base/utf8.h"
#include "kube/objects/codec.h"
#include "kube/patch/patch.h"

namespace muster::runtime {

namespace {
constexpr Duration kFirstRetry = std::chrono::milliseconds(100);
constexpr Duration kLongestRetry = std::chrono::seconds(10);

/// A status contains texts of programs, files and the system; a server accepts only UTF-8.
void replace_bad_bytes(json::value& value) {
    if (json::string* text = value.if_string()) {
        if (!is_utf8(*text)) *text = as_utf8(*text);
    } else if (json::array* array = value.if_array()) {
        for (json::value& item : *array) replace_bad_bytes(item);
    } else if (json::object* object = value.if_object()) {
        for (auto& field : *object) replace_bad_bytes(field.value());
    }
}

}  // namespace

StatusWriter::StatusWriter(kube::Client& client, Clock& clock, TaskGroup& tasks,
                           const kube::Pod& pod, std::function<kube::PodStatus()> current)
    : client_(client),
      clock_(clock),
      tasks_(tasks),
      namespace_(pod.metadata.namespace_),
      name_(pod.metadata.name),
      uid_(pod.metadata.uid),
      current_(std::move(current)),
      written_(kube::encode(pod.status)),
      idle_(tasks.executor()) {}

void StatusWriter::changed() {
    dirty_ = true;
    if (running_ || gone_) return;
    running_ = true;
    tasks_.spawn("status of " + name_, run(), [this](const std::string&) {
        running_ = false;
        idle_.notify_all();
        // Perhaps no other change comes, and this one has not been written.
        spawn_restarting(tasks_, clock_, "status of " + name_ + " again",
                         [this] { return change_later(); });
    });
}

Task<void> StatusWriter::change_later() {
    co_await clock_.sleep_for(kFirstRetry);
    changed();
}

Task<void> StatusWriter::flush() {
    while (running_) co_await idle_.wait();
}

Task<void> StatusWriter::run() {
    Duration retry = kFirstRetry;
    while (dirty_ && !gone_) {
        dirty_ = false;
        json::value wanted = kube::encode(current_());
        replace_bad_bytes(wanted);
        // Only the differences; a list is sent as a whole, as merge patches know no keys in lists.
        json::value difference = kube::make_merge_patch(written_, wanted);
        if (difference.is_object() && difference.get_object().empty()) continue;
        // The uid makes it fail if the name belongs to a newer pod by now.
        json::object patch{{"metadata", {{"uid", uid_}}}, {"status", std::move(difference)}};
        auto done = co_await client_.patch(kube::types::kPods, namespace_, name_,
                                           kube::ContentType::kMergePatch,
                                           json::value(std::move(patch)), "status");
        if (done) {
            written_ = std::move(wanted);
            retry = kFirstRetry;
            continue;
        }
        const Code code = done.error().code();
        if (code == Code::kUnavailable || code == Code::kTimeout ||
            code == Code::kTooManyRequests) {
            dirty_ = true;
            co_await clock_.sleep_for(retry);
            retry = std::min(retry * 2, kLongestRetry);
            continue;
        }
        gone_ = code == Code::kNotFound || code == Code::kConflict;
        if (!gone_)
            log::error("a pod's status was refused",
                       {{"pod", kube::NamespacedName{namespace_, name_}.text()},
                        {"error", done.error().message()}});
    }
    running_ = false;
    idle_.notify_all();
}

}  // namespace muster::runtime
