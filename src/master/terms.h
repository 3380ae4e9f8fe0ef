#pragma once

#include <optional>
#include <string>
#include <vector>

#include "master/service/vocabulary.h"

namespace muster::master {

struct JobOptions;

class JobTerms;

/// The options of a job with these terms; what terms don't say stays.
JobOptions with_terms(JobOptions options, const Terms& terms);

/// What differs, as flags: "--nnodes 2:4 (the job's: 2:2), --node-unit 2 (the job's: 1)". Empty:
/// nothing does.
std::string difference(const Terms& given, const Terms& of_job);

/// For a job that is to have so many nodes at most; a fixed number of them becomes this one. As they
/// are if that can't be.
Terms with_nodes(const Terms& terms, int nodes);

/// With the terms that an earlier master recorded, where the job's are those of its nodes.
JobOptions options_at_start(JobOptions options, const JobTerms& terms);

/// For people: that this node has other terms, which are to hold next.
std::string other_terms(const Hello& hello, const JobTerms& terms);

/// Which terms hold in a job whose master was told none: those of the first node that joins. Other
/// terms are those of the newest agent that no master had told anything before, since its pod was
/// made last: that is how a changed manifest reaches a job. When they hold is up to the job. Agents
/// that come back from an earlier master change nothing; what they say was weighed then.
///
/// Pure.
class JobTerms {
  public:
    /// As an earlier master recorded them.
    explicit JobTerms(std::optional<Terms> recorded) : now_(std::move(recorded)) {}

    enum class Heard {
        kNothing,  ///< that is news
        kFirst,    ///< terms: they hold from now on
        kOthers    ///< for the first time: next() are to hold from the next world on
    };
    /// `is_new`: no master has told that agent anything.
    Heard heard(const std::optional<Terms>& said, bool is_new);

    /// Overrides the numbers of nodes that agents tell, those that hold as well: from the next world
    /// on. A number that no multiple of the unit has changes nothing.
    void wants_nodes(int nodes);

    const std::optional<Terms>& now() const { return now_; }
    const std::optional<Terms>& next() const { return next_; }
    /// next() hold from now on.
    void take_next();

  private:
    std::optional<Terms> now_;
    std::optional<Terms> next_;
    std::optional<int> wanted_;  ///< nodes
    std::vector<Terms> told_;    ///< people were told of these
};

}  // namespace muster::master
