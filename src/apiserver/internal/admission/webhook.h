#pragma once

#include <string>
#include <vector>

#include "apiserver/internal/admission/write_selection.h"
#include "apiserver/internal/expressions/match_conditions.h"
#include "apiserver/webhook_caller.h"
#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// One entry of a webhook configuration.
struct Webhook {
    std::string name;
    WebhookEndpoint endpoint;
    WriteSelection writes;
    std::vector<MatchCondition> conditions;
    bool ignores_failure = false;  ///< failurePolicy: Ignore
    bool allows_dry_run = false;   ///< sideEffects: None or NoneOnDryRun
    bool reinvoked = false;        ///< reinvocationPolicy: IfNeeded
    std::string review_version;    ///< of the AdmissionReview: "v1" where it takes that
    Duration time_limit{};
};

/// The webhooks of a configuration object that was validated by webhook_strategy().
std::vector<Webhook> read_webhooks(const json::object& configuration);

}  // namespace muster::apiserver
