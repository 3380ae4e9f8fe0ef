#include "base/async/run_loop.h"

#include "base/unexpected.h"

namespace muster {

void run_loop(boost::asio::io_context& context) {
    while (contained("a handler of the loop", [&] { context.run(); })) {
    }
}

}  // namespace muster
