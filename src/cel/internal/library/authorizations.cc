#include <fmt/format.h>

#include "base/trimmed.h"
#include "cel/authorizer.h"
#include "cel/internal/library/arguments.h"
#include "kube/values/name_syntax.h"

// Kubernetes' library "authz". Upstream: k8s.io/apiserver v0.33, pkg/cel/library/authz.go.

namespace muster::cel {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

/// What is asked so far; each step of `authorizer.group('').resource('pods')` is a type.
class CheckValue final : public Opaque {
  public:
    CheckValue(std::string_view type, Authorizer& authorizer, AuthorizationQuestion question)
        : type_(type), authorizer_(authorizer), question_(std::move(question)) {}
    std::string_view type_name() const override { return type_; }
    std::string content() const override {
        const AuthorizationQuestion& q = question_;
        return fmt::format(
            "{}", fmt::join(std::initializer_list<std::string>{q.account_namespace, q.account,
                                                               q.path, q.group, q.resource,
                                                               q.subresource, q.namespace_, q.name,
                                                               q.field_selector, q.label_selector},
                            "\n"));
    }
    Authorizer& authorizer() const { return authorizer_; }
    const AuthorizationQuestion& question() const { return question_; }

  private:
    std::string_view type_;
    Authorizer& authorizer_;
    AuthorizationQuestion question_;
};

class DecisionValue final : public Opaque {
  public:
    explicit DecisionValue(AuthorizationAnswer answer) : answer_(std::move(answer)) {}
    std::string_view type_name() const override { return "kubernetes.authorization.Decision"; }
    std::string content() const override {
        return fmt::format("{}\n{}\n{}", answer_.allowed, answer_.reason, answer_.error);
    }
    const AuthorizationAnswer& get() const { return answer_; }

  private:
    AuthorizationAnswer answer_;
};

constexpr std::string_view kAuthorizer = "kubernetes.authorization.Authorizer";
constexpr std::string_view kPathCheck = "kubernetes.authorization.PathCheck";
constexpr std::string_view kGroupCheck = "kubernetes.authorization.GroupCheck";
constexpr std::string_view kResourceCheck = "kubernetes.authorization.ResourceCheck";

Value made(std::string_view type, Authorizer& authorizer, AuthorizationQuestion question) {
    return std::shared_ptr<const Opaque>(
        std::make_shared<CheckValue>(type, authorizer, std::move(question)));
}

const CheckValue* check_of(Arguments arguments, std::string_view type) {
    const auto* value = arguments.empty() ? nullptr : arguments[0].opaque<CheckValue>();
    return value != nullptr && value->type_name() == type ? value : nullptr;
}
std::string_view text_at(Arguments arguments, std::size_t index) {
    const Text* text = argument<Text>(arguments, index);
    return text == nullptr ? std::string_view() : text->view();
}

/// The next step: the value of type `to`, with this part of the question set.
Outcome step(Arguments arguments, std::string_view from, std::string_view to,
             std::string AuthorizationQuestion::* part) {
    const CheckValue* check = check_of(arguments, from);
    if (check == nullptr || argument<Text>(arguments, 1) == nullptr) return no_such_overload();
    AuthorizationQuestion question = check->question();
    question.*part = text_at(arguments, 1);
    return made(to, check->authorizer(), std::move(question));
}

Outcome path(Arguments arguments) {
    if (argument<Text>(arguments, 1) && trimmed(text_at(arguments, 1), kBlanks).empty())
        return failure("path must not be empty");
    return step(arguments, kAuthorizer, kPathCheck, &AuthorizationQuestion::path);
}
Outcome group(Arguments arguments) {
    return step(arguments, kAuthorizer, kGroupCheck, &AuthorizationQuestion::group);
}
Outcome resource(Arguments arguments) {
    if (argument<Text>(arguments, 1) && trimmed(text_at(arguments, 1), kBlanks).empty())
        return failure("resource must not be empty");
    return step(arguments, kGroupCheck, kResourceCheck, &AuthorizationQuestion::resource);
}
Outcome subresource(Arguments arguments) {
    return step(arguments, kResourceCheck, kResourceCheck, &AuthorizationQuestion::subresource);
}
Outcome in_namespace(Arguments arguments) {
    return step(arguments, kResourceCheck, kResourceCheck, &AuthorizationQuestion::namespace_);
}
Outcome named(Arguments arguments) {
    return step(arguments, kResourceCheck, kResourceCheck, &AuthorizationQuestion::name);
}
Outcome field_selector(Arguments arguments) {
    return step(arguments, kResourceCheck, kResourceCheck, &AuthorizationQuestion::field_selector);
}
Outcome label_selector(Arguments arguments) {
    return step(arguments, kResourceCheck, kResourceCheck, &AuthorizationQuestion::label_selector);
}

Outcome service_account(Arguments arguments) {
    const CheckValue* check = check_of(arguments, kAuthorizer);
    if (check == nullptr || arguments.size() != 3 || argument<Text>(arguments, 1) == nullptr ||
        argument<Text>(arguments, 2) == nullptr)
        return no_such_overload();
    if (!kube::is_dns1123_subdomain(text_at(arguments, 2)))
        return failure("Invalid service account name");
    if (!kube::is_dns1123_label(text_at(arguments, 1)))
        return failure("Invalid service account namespace");
    return made(kAuthorizer, check->authorizer(),
                {.account_namespace = std::string(text_at(arguments, 1)),
                 .account = std::string(text_at(arguments, 2))});
}

Outcome check(Arguments arguments) {
    const CheckValue* check = check_of(arguments, kResourceCheck);
    if (check == nullptr) check = check_of(arguments, kPathCheck);
    if (check == nullptr || argument<Text>(arguments, 1) == nullptr) return no_such_overload();
    AuthorizationQuestion question = check->question();
    question.verb = text_at(arguments, 1);
    std::optional<AuthorizationAnswer> answer = check->authorizer().answer(question);
    if (!answer)
        return std::unexpected(Failure{.text = "an answer is not known yet", .over_limit = true});
    return std::shared_ptr<const Opaque>(std::make_shared<DecisionValue>(*std::move(answer)));
}

template <class Part>
Outcome of_decision(Arguments arguments, Part part) {
    const auto* decision = arguments.empty() ? nullptr : arguments[0].opaque<DecisionValue>();
    if (decision == nullptr) return no_such_overload();
    return part(decision->get());
}
Outcome allowed(Arguments arguments) {
    return of_decision(arguments,
                       [](const AuthorizationAnswer& answer) -> Value { return answer.allowed; });
}
Outcome reason(Arguments arguments) {
    return of_decision(
        arguments, [](const AuthorizationAnswer& answer) { return Value::text(answer.reason); });
}
Outcome errored(Arguments arguments) {
    return of_decision(arguments, [](const AuthorizationAnswer& answer) -> Value {
        return !answer.error.empty();
    });
}
Outcome error(Arguments arguments) {
    return of_decision(arguments,
                       [](const AuthorizationAnswer& answer) { return Value::text(answer.error); });
}

constexpr NamedFunction kFunctions[] = {
    {"path", path},
    {"group", group},
    {"serviceAccount", service_account},
    {"resource", resource},
    {"subresource", subresource},
    {"namespace", in_namespace},
    {"name", named},
    {"fieldSelector", field_selector},
    {"labelSelector", label_selector},
    {"check", check},
    {"allowed", allowed},
    {"reason", reason},
    {"errored", errored},
    {"error", error},
};

}  // namespace

std::span<const NamedFunction> authorization_functions() { return kFunctions; }

Value authorizer_value(Authorizer& authorizer) { return made(kAuthorizer, authorizer, {}); }

Value resource_check_value(Authorizer& authorizer, AuthorizationQuestion resource) {
    return made(kResourceCheck, authorizer, std::move(resource));
}

}  // namespace muster::cel
