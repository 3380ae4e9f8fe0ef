#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace muster::store {

/// Where an open file of the store and its log lie. Someone may delete or replace them while they
/// are open: what is written then is lost when they are closed. Thread: any.
class FilePlace {
  public:
    /// Remembers which files are there now, beside each other.
    explicit FilePlace(std::string path);

    /// kUnavailable if there are no files there any more, or others.
    Result<void> check() const;

  private:
    struct Identity {
        dev_t device = 0;
        ino_t inode = 0;
        friend bool operator==(const Identity&, const Identity&) = default;
    };
    static Identity identity_of(const std::string& path);

    std::string path_;
    std::string log_path_;
    Identity file_;
    Identity log_;
};

}  // namespace muster::store
