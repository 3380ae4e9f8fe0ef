#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/values/json.h"
#include "sim/pod_life.h"
#include "sim/scenario.h"

namespace muster::sim {

/// "90s", "1h30m", "500ms", "-5m", "0"; nullopt for anything else.
std::optional<Duration> parse_span(std::string_view text);

/// Reads an object field by field. A value of a wrong type or out of its range is a problem with
/// its path, and the target stays as it is; so is, when the reader goes, every key that was
/// not asked for. Besides durations and ranges of them it reads what kube's codec has no type for:
/// numbers with a fraction.
class FieldReader {
  public:
    FieldReader(const json::value& value, std::string path, std::vector<Cause>& problems);
    ~FieldReader();
    FieldReader(const FieldReader&) = delete;
    FieldReader& operator=(const FieldReader&) = delete;

    void read(std::string_view key, int& target, int least, int most);
    void read(std::string_view key, bool& target);
    void read(std::string_view key, std::string& target);
    void read(std::string_view key, Duration& target);
    /// "5s" or "5s..1m".
    void read(std::string_view key, DurationRange& target);
    /// The same, which may go back: "-5m..5m".
    void read_shift(std::string_view key, DurationRange& target);
    /// "3" or "1..4", or a number.
    void read(std::string_view key, std::pair<int, int>& target);
    /// 0 to 1.
    void read_probability(std::string_view key, double& target);
    void read_words(std::string_view key, std::vector<std::string>& target,
                    const std::vector<std::string>& allowed);
    /// Calls `read` with the value and its path, if it is there.
    void read_with(std::string_view key,
                   const std::function<void(const json::value&, const std::string& path)>& read);

    void problem(std::string_view key, std::string message);

  private:
    void read_range(std::string_view key, DurationRange& target, Duration smallest);
    const json::value* take(std::string_view key);

    const json::object* object_ = nullptr;
    std::string path_;
    std::vector<Cause>& problems_;
    std::set<std::string, std::less<>> known_;
};

}  // namespace muster::sim
