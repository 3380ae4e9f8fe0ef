#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/async/async.h"
#include "base/unique_fd.h"
#include "process/cgroup_hierarchies.h"

namespace muster::runtime {

/// The kernel's notices that processes of one group are killed because memory ran out, by a
/// descriptor of CgroupFiles::open_oom_notices(). Thread: the loop.
class OomNotices {
  public:
    OomNotices(asio::any_io_executor executor, UniqueFd descriptor, process::CgroupVersion version);

    /// Returns after a notice: then the count of kills has risen, will rise in a moment (version 1
    /// gives notice before it kills), or has not, as there are notices of other things. Ends with
    /// operation_aborted at close(), after which it must not be called.
    Task<void> wait();
    void close();

  private:
    /// Notices that were given before do not end the next wait.
    void drain();

    asio::posix::stream_descriptor descriptor_;
    process::CgroupVersion version_;
};

}  // namespace muster::runtime
