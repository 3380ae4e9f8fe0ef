package envtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// The process ids of a process's children.
func childrenOf(t *testing.T, parent int) []string {
	t.Helper()
	var children []string
	for _, file := range must(filepath.Glob("/proc/[0-9]*/status"))(t) {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(text), fmt.Sprintf("\nPPid:\t%d\n", parent)) {
			children = append(children, filepath.Base(filepath.Dir(file)))
		}
	}
	return children
}

// How long Start and Stop take, and how much memory both programs took at most, for docs/foreign-controllers.md.
func TestMeasure(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip("MEASURE is not set")
	}
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`)
	for range 5 {
		environment := &envtest.Environment{CRDDirectoryPaths: []string{"definitions"}}
		began := time.Now()
		must(environment.Start())(t)
		started := time.Since(began)
		kilobytes := 0
		for _, child := range childrenOf(t, os.Getpid()) {
			text := string(must(os.ReadFile(filepath.Join("/proc", child, "status")))(t))
			var size int
			must(fmt.Sscan(peak.FindStringSubmatch(text)[1], &size))(t)
			kilobytes += size
		}
		began = time.Now()
		check(t, environment.Stop())
		fmt.Printf("started after %d ms, stopped after %d ms, %d MiB at most\n", started.Milliseconds(),
			time.Since(began).Milliseconds(), kilobytes/1024)
	}
}
