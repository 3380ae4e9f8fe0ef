#pragma once

namespace muster::cli {

/// The format of objects for programs; kNone: a text for people instead.
enum class OutputFormat { kNone, kJson, kYaml };

enum class ObjectFormat { kTable, kWide, kJson, kYaml, kName, kJsonPath };

}  // namespace muster::cli
