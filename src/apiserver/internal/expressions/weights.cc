#include "apiserver/internal/expressions/weights.h"

#include <algorithm>

#include "apiserver/internal/expressions/schema_rules.h"
#include "base/async/side_thread.h"

namespace muster::apiserver {

std::size_t schema_weight(const ResourceDef& def, std::size_t bytes) {
    constexpr std::size_t kFewSteps = 500'000;  // some 20 ms at the worst
    return def.pattern_steps * bytes > kFewSteps ? std::max(bytes, kWorthSideThread) : bytes;
}

std::size_t check_weight(const ResourceDef& def, std::size_t bytes) {
    const bool costly = (def.rules != nullptr && def.rules->is_costly()) ||
                        def.type.group == "admissionregistration.k8s.io" ||
                        def.type.plural == kube::types::kCustomResourceDefinitions.plural;
    return schema_weight(def, costly ? std::max(bytes, kWorthSideThread) : bytes);
}

}  // namespace muster::apiserver
