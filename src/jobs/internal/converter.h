#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "jobs/conversion.h"

namespace muster::jobs {

/// What a converter has to say while it works.
class ConversionNotes {
  public:
    ConversionNotes(std::string from, std::string to)
        : from_(std::move(from)), to_(std::move(to)) {}

    /// The apiVersions.
    const std::string& from() const { return from_; }
    const std::string& to() const { return to_; }

    /// What became of a field of the given object.
    void changed(std::string field, std::string message) {
        changes.push_back({"Converted", std::move(message), std::move(field)});
    }
    /// Why the object can't be converted.
    void refused(Cause cause) { problems.push_back(std::move(cause)); }
    /// Where the given object has what is at `field` now.
    void moved(std::string from, std::string field) {
        origins.push_back({std::move(field), std::move(from)});
    }
    /// The other version has nothing like it.
    void dropped(std::string field) {
        changed(std::move(field), to_ + " has no such field; it is kept in the annotation " +
                                      std::string(annotations::kConvertedFrom));
    }

    std::vector<Cause> changes;
    std::vector<Cause> problems;
    std::vector<Origin> origins;

  private:
    std::string from_;
    std::string to_;
};

/// Two versions of a kind, and the way from the spec of one to that of the other. Neither function
/// need be the other's exact inverse, and neither may fail on a spec of any shape: what is not as
/// the version has it is left alone, for the check to say so.
struct Converter {
    using Rewrite = std::function<void(json::object& spec, ConversionNotes&)>;

    std::string kind;
    std::string old_version;
    std::string version;
    Rewrite up;    ///< old to new
    Rewrite down;  ///< new to old
    /// The fields say one thing together: after an edit of one, none is restored from what was
    /// kept.
    bool as_a_whole = false;
};

/// v1beta1 and v1beta2 of TFJob and PyTorchJob, whose run policy had no struct of its own.
std::vector<Converter> run_policy_converters();
/// v1alpha1 of MPIJob, with one template for all of its pods.
Converter mpi_v1alpha1_converter();

}  // namespace muster::jobs
