// informers does with the informers of client-go what they meet in a long life, and ends with status 0 when each saw what
// the server had. It builds with several minor versions of client-go: whatever it uses is in all of them. It prints what
// it did, a line each. Where the server is, -kubeconfig or KUBECONFIG say.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// limit ends a scenario that waits for what does not come.
const limit = 4 * time.Minute

type world struct {
	maps    typed.ConfigMapInterface
	objects int // that change at once, where many events are wanted
}

var scenarios = map[string]func(ctx context.Context, w world) error{
	"events":   manyEvents,
	"rollover": rollover,
	"restart":  restart,
	"counter":  counter,
}

func main() {
	namespace := flag.String("namespace", "default", "where to work; it should be empty")
	watchList := flag.Bool("watch-list", false, "begin by a watch that sends what there is, instead of a list")
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "of the server")
	objects := flag.Int("objects", 100, "of a hundred events each, where many events are wanted")
	flag.Parse()
	if err := run(*kubeconfig, *namespace, *watchList, *objects, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "informers:", err)
		os.Exit(1)
	}
}

func run(kubeconfig, namespace string, watchList bool, objects int, names []string) error {
	// client-go reads the first of these up to 0.29 and the second from 0.30 on, when it makes a reflector.
	if watchList {
		os.Setenv("ENABLE_CLIENT_GO_WATCH_LIST_ALPHA", "true")
	}
	os.Setenv("KUBE_FEATURE_WatchListClient", strconv.FormatBool(watchList))
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	set, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, name := range names {
		scenario, known := scenarios[name]
		if !known {
			return fmt.Errorf("there is no scenario %q", name)
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		err := scenario(ctx, world{set.CoreV1().ConfigMaps(namespace), objects})
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("%s: ok\n", name)
	}
	return nil
}
