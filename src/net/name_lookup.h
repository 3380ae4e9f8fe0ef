#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/result.h"

namespace muster::net {

/// Looks names of hosts up as this machine does (/etc/hosts, DNS), without holding up the loop.
/// Nothing is remembered. Thread: the loop of its executor. stop() it before it is destroyed.
class NameLookup {
  public:
    explicit NameLookup(asio::any_io_executor executor);

    /// The addresses of `host`, those to be tried first in front. An address is its own, and
    /// "localhost" is what connect_tcp() takes it for. kUnavailable when it has none or nobody
    /// tells; kCancelled after stop(). Who asks for a name that is being looked up gets that
    /// answer.
    Task<Result<std::vector<std::string>>> addresses(std::string host);

    /// Ends what waits at once, and returns when the system's resolver is done with what it was
    /// asked: it can't be interrupted, its own limits end it.
    Task<void> stop();

  private:
    struct Question;

    Task<void> ask(std::shared_ptr<Question> question);

    std::map<std::string, std::shared_ptr<Question>> open_;
    TaskGroup tasks_;
};

}  // namespace muster::net
