#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/internal/admission/admission_policies.h"
#include "apiserver/internal/admission/admission_subject.h"
#include "apiserver/internal/admission/read_objects.h"
#include "apiserver/internal/admission/webhook.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/requests/decoding.h"
#include "apiserver/requests/status_error.h"

namespace muster::apiserver {

/// Asks the policies, and calls the admission webhooks named by MutatingWebhookConfigurations and
/// ValidatingWebhookConfigurations. None is asked about objects of these kinds, so that a wrong one
/// can be removed.
///
/// The refusal of a webhook is the error; a webhook that can't be reached or gives an invalid
/// answer leads to 500, or is ignored if its failurePolicy is Ignore. A patch that can't be applied
/// leads to 500 in any case. Thread: the server's loop.
class Admission {
  public:
    explicit Admission(ServerState& state);

    /// Whether there is any configuration.
    bool in_use() const;
    /// The write for which the others are called; nullopt if there is no configuration.
    std::optional<AdmissionSubject> subject_of(Operation operation, const Target& target,
                                               const WriteQuery& query) const;

    class Mutators;
    /// The mutating webhooks of a write, none if it concerns none of them. `before` is null for a
    /// creation.
    Task<Mutators> mutators_of(const AdmissionSubject& subject, const json::value* before,
                               const json::value& after);
    /// Has the webhooks change `object`, which has its defaults then, too; whether they did. Called
    /// twice at most: the second time only those with the reinvocationPolicy IfNeeded are asked,
    /// about what was changed since. Their warnings are added to `warnings`. All arguments outlive
    /// the call.
    Task<StatusResult<bool>> mutate(Mutators& mutators, const AdmissionSubject& subject,
                                    const json::value* before, DecodedObject& object,
                                    std::vector<std::string>& warnings);
    /// Whether the policies and the validating webhooks allow it. `after` is null for a deletion.
    Task<StatusResult<void>> validate(const AdmissionSubject& subject, const json::value* before,
                                      const json::value* after, std::vector<std::string>& warnings);

  private:
    /// A webhook, and the version in which it wants to see a write.
    struct Wanted {
        std::shared_ptr<const std::vector<Webhook>> configuration;
        const Webhook* webhook = nullptr;
        DefPtr seen_as;
    };
    using Configurations = ReadObjects<std::vector<Webhook>>;

    /// Nothing if the webhook's selection does not take the write.
    std::optional<Wanted> wanted(const Configurations::Ptr& configuration, const Webhook& webhook,
                                 const AdmissionSubject& subject,
                                 const SubjectToMatch& to_match) const;
    std::vector<Wanted> wanted_by(const Configurations& configurations,
                                  const AdmissionSubject& subject, const json::value* before,
                                  const json::value* after) const;
    /// Whether its conditions hold; the error if they can't be evaluated and that counts.
    Task<StatusResult<bool>> is_asked(const Webhook& webhook, const AdmissionSubject& subject,
                                      const ReviewQuestion& question);
    /// Applies the patch of its answer; whether that changed something.
    Task<StatusResult<bool>> let_change(const Wanted& wanted, const AdmissionSubject& subject,
                                        const json::value* before, DecodedObject& object,
                                        std::vector<std::string>& warnings);
    /// The JSON patch of its answer.
    Task<StatusResult<std::optional<json::value>>> ask(const Wanted& wanted,
                                                       const AdmissionSubject& subject,
                                                       const json::value* before,
                                                       const json::value* after, bool may_patch,
                                                       std::vector<std::string>& warnings);
    StatusResult<void> failed(const Webhook& webhook, std::string_view why) const;

    ServerState& state_;
    AdmissionPolicies policies_;
    Configurations mutating_;
    Configurations validating_;
};

/// The mutating webhooks of a write, and what each of them has seen of it. Which of them are asked
/// is decided one by one, since labels may change on the way.
class Admission::Mutators {
  public:
    bool is_empty() const { return candidates_.empty(); }
    /// The server itself changed the object after the webhooks.
    void note_change() { ++changes_; }

  private:
    friend class Admission;
    struct Candidate {
        std::shared_ptr<const std::vector<Webhook>> configuration;
        const Webhook* webhook = nullptr;
        /// How many changes there had been when it was asked last; empty: it was not asked.
        std::optional<std::size_t> seen;
    };
    std::vector<Candidate> candidates_;
    std::size_t changes_ = 0;
    bool again_ = false;
};

}  // namespace muster::apiserver
