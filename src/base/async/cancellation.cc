#include "base/async/cancellation.h"

#include <boost/system/system_error.hpp>

namespace muster {

bool is_cancellation(const std::exception_ptr& thrown) {
    if (!thrown) return false;
    try {
        std::rethrow_exception(thrown);
    } catch (const boost::system::system_error& error) {
        return is_cancellation(error.code());
    } catch (...) {
        return false;
    }
}

void rethrow_cancellation(const boost::system::error_code& error) {
    if (is_cancellation(error)) throw boost::system::system_error(error);
}

}  // namespace muster
