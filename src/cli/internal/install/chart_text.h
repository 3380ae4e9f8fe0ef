#pragma once

#include <string>
#include <string_view>

namespace muster::cli {

// Values of a chart in what is printed as YAML. A value that the chart gives is a text with a mark
// in it, which needs no quotes there; afterwards the marks become template expressions.

/// The mark of ".Values.image".
std::string chart_value(std::string_view path);
/// The mark of a list item that stands for all items of ".Values.extraArgs".
std::string chart_items(std::string_view path);

/// YAML whose marks are expressions: a value that is a mark as JSON of any type, one within a text
/// as it is.
std::string with_expressions(std::string_view yaml);

/// The lines that both have in common once; what differs under a condition.
std::string either(std::string_view condition, std::string_view then, std::string_view otherwise);

/// The whole text under a condition.
std::string only_if(std::string_view condition, std::string_view text);

}  // namespace muster::cli
