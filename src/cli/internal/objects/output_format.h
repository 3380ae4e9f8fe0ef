#pragma once

namespace muster::cli {

/// Of objects for programs; kNone: there is a text for people instead.
enum class OutputFormat { kNone, kJson, kYaml };

enum class ObjectFormat { kTable, kWide, kJson, kYaml, kName, kJsonPath };

}  // namespace muster::cli
