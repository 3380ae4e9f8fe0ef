#include "apiserver/internal/conversions/shared_conversions.h"

#include <boost/asio/post.hpp>
#include <optional>
#include <utility>

#include "apiserver/internal/conversions/conversion_review.h"
#include "apiserver/objects/text_fields.h"
#include "base/async/first_of.h"
#include "base/async/signal.h"

namespace muster::apiserver {

namespace {
/// How many that waited are woken in one turn of the loop: each of them writes to its client.
constexpr std::size_t kTurn = 32;
}  // namespace

struct SharedConversions::Question {
    Question(const asio::any_io_executor& executor, Key its_key, DefPtr its_def,
             store::ObjectTextPtr its_object)
        : key(std::move(its_key)),
          def(std::move(its_def)),
          object(std::move(its_object)),
          abandoned(executor) {}

    Key key;
    DefPtr def;  ///< it and `object` stay, so that nothing else has their addresses
    store::ObjectTextPtr object;
    std::optional<StatusResult<store::ObjectTextPtr>> answer = {};
    std::list<Wait*> waiting = {};
    bool wanted = true;
    Signal abandoned;

    std::size_t bytes() const {
        return object->text().size() +
               (*answer && **answer != nullptr ? (**answer)->text().size() : 0);
    }
};

/// One that waits for the answer.
class SharedConversions::Wait {
  public:
    Wait(SharedConversions& owner, QuestionPtr question)
        : owner_(owner),
          question_(std::move(question)),
          woken_(owner.tasks_.executor()),
          place_(question_->waiting.insert(question_->waiting.end(), this)) {}
    ~Wait() {
        if (waits_) question_->waiting.erase(place_);
        if (question_->answer || !question_->waiting.empty()) return;
        question_->wanted = false;
        question_->abandoned.notify_all();
        owner_.forget(*question_);
    }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

    Task<StatusResult<store::ObjectTextPtr>> answer() {
        while (waits_ && !question_->answer) co_await woken_.wait();
        co_return *question_->answer;
    }
    /// Wakes some of those that wait.
    static void wake(Question& question, std::size_t most) {
        for (; most > 0 && !question.waiting.empty(); --most) {
            Wait& first = *question.waiting.front();
            question.waiting.pop_front();
            first.waits_ = false;
            first.woken_.notify_all();
        }
    }

  private:
    SharedConversions& owner_;
    QuestionPtr question_;
    Signal woken_;
    std::list<Wait*>::iterator place_;
    bool waits_ = true;
};

/// Sees to it that a question has an answer, and that all who wait learn of it, however its task
/// ends: also when it is dropped before it began.
class SharedConversions::Duty {
  public:
    Duty(SharedConversions& owner, QuestionPtr question)
        : owner_(owner), question_(std::move(question)) {}
    ~Duty() {
        if (!question_->answer) {
            question_->answer = internal_error(conversion_failure(
                *question_->object, "failed: the server ended it before there was an answer"));
            owner_.forget(*question_);
        }
        Wait::wake(*question_, question_->waiting.size());
    }
    Duty(const Duty&) = delete;
    Duty& operator=(const Duty&) = delete;

  private:
    SharedConversions& owner_;
    QuestionPtr question_;
};

Task<StatusResult<store::ObjectTextPtr>> SharedConversions::show(DefPtr def,
                                                                 store::ObjectTextPtr object) {
    if (string_at_path(object->text(), "apiVersion") == def->type.api_version()) co_return object;
    Wait wait(*this, question_about(std::move(def), std::move(object)));
    co_return co_await wait.answer();
}

SharedConversions::QuestionPtr SharedConversions::question_about(DefPtr def,
                                                                 store::ObjectTextPtr object) {
    Key key{object.get(), def->webhook_conversion.get(), def->type.api_version()};
    if (const auto known = questions_.find(key); known != questions_.end()) return known->second;
    auto question =
        std::make_shared<Question>(tasks_.executor(), key, std::move(def), std::move(object));
    questions_.emplace(std::move(key), question);
    tasks_.spawn("ask a conversion webhook",
                 settle(question, std::make_shared<Duty>(*this, question)));
    return question;
}

Task<void> SharedConversions::settle(QuestionPtr question, std::shared_ptr<Duty> /*duty*/) {
    const auto ask = [](Ask& how, QuestionPtr what) -> Task<void> {
        what->answer = co_await how(what->def, what->object);
    };
    const auto until_abandoned = [](QuestionPtr what) -> Task<void> {
        while (what->wanted) co_await what->abandoned.wait();
    };
    co_await first_of(ask(ask_, question), until_abandoned(question));
    if (!question->answer) co_return;
    if (*question->answer)
        keep(*question);
    else
        forget(*question);
    for (;;) {
        Wait::wake(*question, kTurn);
        if (question->waiting.empty()) co_return;
        co_await asio::post(asio::use_awaitable);
    }
}

void SharedConversions::keep(const Question& question) {
    const auto known = questions_.find(question.key);
    if (known == questions_.end() || known->second.get() != &question) return;
    kept_.push_back(known->second);
    kept_bytes_ += question.bytes();
    while (kept_.size() > limits_.answers || kept_bytes_ > limits_.bytes) {
        const QuestionPtr oldest = std::move(kept_.front());
        kept_.pop_front();
        kept_bytes_ -= oldest->bytes();
        forget(*oldest);
    }
}

void SharedConversions::forget(const Question& question) {
    const auto known = questions_.find(question.key);
    if (known != questions_.end() && known->second.get() == &question) questions_.erase(known);
}

}  // namespace muster::apiserver
