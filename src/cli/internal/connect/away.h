#pragma once

#include "base/error.h"

namespace muster::cli {

/// The server does not answer, or does not let us in: no other request would fare better now, and
/// the same one may later.
inline bool is_away(const Error& error) {
    switch (error.code()) {
        case Code::kUnavailable:
        case Code::kTimeout:
        case Code::kTooManyRequests:
        case Code::kUnauthorized:
        case Code::kCancelled:
            return true;
        default:
            return false;
    }
}

}  // namespace muster::cli
