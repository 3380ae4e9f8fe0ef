#pragma once

namespace muster::elastic {

/// What elastic_bench does when it is told so.
int run(int argc, char** argv);

}  // namespace muster::elastic
