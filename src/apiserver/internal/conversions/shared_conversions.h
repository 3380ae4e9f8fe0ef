#pragma once

#include <compare>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "apiserver/requests/status_error.h"
#include "apiserver/resources/resource_def.h"
#include "base/async/async.h"
#include "base/async/task_group.h"
#include "store/object_text.h"

namespace muster::apiserver {

/// Objects in a version that a webhook makes of them, for watches: however many watches show a
/// change in a version, the webhook is asked once. A change is one shared object for all of them,
/// so the object itself says which change it is.
///
/// The question belongs to none of those who wait: it is cancelled when all of them have left. The
/// latest answers are kept for watches that come to the change later. A failure is the answer of
/// those who wait for it, and is asked again after that.
///
/// Thread: the loop of `tasks`. The tasks have ended before this is destroyed.
class SharedConversions {
  public:
    /// Asks for an object in the definition's version.
    using Ask =
        std::function<Task<StatusResult<store::ObjectTextPtr>>(DefPtr, store::ObjectTextPtr)>;
    /// Of the answers that are kept: how many, and how long the texts of before and after.
    struct Limits {
        std::size_t answers = 1024;
        std::size_t bytes = std::size_t{8} * 1024 * 1024;
    };

    SharedConversions(TaskGroup& tasks, Ask ask) : SharedConversions(tasks, std::move(ask), {}) {}
    SharedConversions(TaskGroup& tasks, Ask ask, Limits limits)
        : tasks_(tasks), ask_(std::move(ask)), limits_(limits) {}

    /// The object in the definition's version: the same pointer if it is of that already.
    Task<StatusResult<store::ObjectTextPtr>> show(DefPtr def, store::ObjectTextPtr object);

  private:
    struct Key {
        const store::ObjectText* object;
        const WebhookConversion* by;
        std::string api_version;

        friend auto operator<=>(const Key&, const Key&) = default;
    };
    struct Question;
    using QuestionPtr = std::shared_ptr<Question>;
    class Wait;
    class Duty;

    QuestionPtr question_about(DefPtr def, store::ObjectTextPtr object);
    Task<void> settle(QuestionPtr question, std::shared_ptr<Duty> duty);
    void keep(const Question& question);
    void forget(const Question& question);

    TaskGroup& tasks_;
    Ask ask_;
    Limits limits_;
    std::map<Key, QuestionPtr> questions_;
    std::deque<QuestionPtr> kept_;  ///< those that are answered, oldest first
    std::size_t kept_bytes_ = 0;
};

}  // namespace muster::apiserver
