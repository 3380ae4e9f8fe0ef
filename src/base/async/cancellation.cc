#include "base/async/cancellation.h"

#include <boost/system/system_error.hpp>

namespace muster {

void rethrow_cancellation(const boost::system::error_code& error) {
    if (is_cancellation(error)) throw boost::system::system_error(error);
}

}  // namespace muster
