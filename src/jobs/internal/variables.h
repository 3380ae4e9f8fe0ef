#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jobs/kind.h"

namespace muster::jobs {

/// The variables of one replica, in the order in which a kind sets them. `rule` says in words where
/// the value comes from, as in "the name of worker 0"; it is a literal.
class Variables {
  public:
    void add(std::string_view name, std::string value, std::string_view rule = {});
    /// Adds a variable whose value is a field of the pod: "status.podIP".
    void add_field(std::string_view name, std::string_view path, std::string_view rule = {});
    std::vector<Variable> take() { return std::move(list_); }
    /// For a container that the kind itself adds.
    std::vector<kube::EnvVar> take_without_rules();

  private:
    std::vector<Variable> list_;
};

/// The number of the kind's port in the default container of a replica type; kInvalid if it is
/// missing, which never happens to a job with its defaults.
Result<std::int32_t> port_of(const Job& job, std::string_view type);
/// The same, or the kind's own port if there is none yet: for a job as written.
std::int32_t port_or_default(const Job& job, std::string_view type);

/// How many pods of a type a job as written asks for; 0 if it does not have the type.
std::int32_t wanted(const Job& job, const std::string& type);
/// Of all types together.
std::int32_t all_wanted(const Job& job);

/// The longest string that Linux accepts in a program's environment, including `NAME=`
/// (MAX_ARG_STRLEN less the terminator): with a longer one no program starts.
inline constexpr std::size_t kLongestVariable = 128 * 1024 - 1;

/// The cause for a variable that names every replica and would be too long for Linux. `bytes` is
/// its length with the name, `replicas` how many it names, `way_out` what to do instead.
std::optional<Cause> too_long(const Job& job, std::string_view variable, std::size_t bytes,
                              std::int32_t replicas, std::string_view way_out);

}  // namespace muster::jobs
