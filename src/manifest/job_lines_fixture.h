#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace muster::manifest {

/// A job whose lines have known numbers; `line` replaces the line that starts with the same words.
inline std::string job_with(const std::vector<std::pair<std::string, std::string>>& changes = {}) {
    std::vector<std::string> lines = {
        /* 1*/ "apiVersion: kubeflow.org/v1",
        /* 2*/ "kind: PyTorchJob",
        /* 3*/ "metadata: {name: digits}",
        /* 4*/ "spec:",
        /* 5*/ "  pytorchReplicaSpecs:",
        /* 6*/ "    Master:",
        /* 7*/ "      replicas: 1",
        /* 8*/ "      restartPolicy: OnFailure",
        /* 9*/ "      template:",
        /*10*/ "        spec:",
        /*11*/ "          containers:",
        /*12*/ "          - name: pytorch",
        /*13*/ "            image: x",
        /*14*/ "            command: [train]",
        /*15*/ "            resources: {requests: {cpu: 1}}",
    };
    for (const auto& [line, text] : changes) {
        bool found = false;
        for (std::string& candidate : lines) {
            if (candidate != line) continue;
            candidate = text;
            found = true;
        }
        EXPECT_TRUE(found) << line;
    }
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
}

}  // namespace muster::manifest
