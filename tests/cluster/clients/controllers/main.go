// controllers does in one namespace what controllers written in Go do, and ends with status 0 when the server
// answered them as a Kubernetes server does. It prints what it did, a line each. Where the server is, -kubeconfig
// or KUBECONFIG say.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// limit ends a scenario that waits for what does not come.
const limit = time.Minute

type scenario struct {
	name string
	run  func(ctx context.Context, config *rest.Config, namespace string) error
}

func main() {
	namespace := flag.String("namespace", "default", "where to work; it should be empty")
	flag.Parse()
	ctrl.SetLogger(klog.Background())
	config, err := ctrl.GetConfig()
	if err != nil {
		fmt.Fprintln(os.Stderr, "controllers:", err)
		os.Exit(1)
	}
	failed := false
	for _, each := range []scenario{
		{"typed informer", typedInformer},
		{"dynamic informer", dynamicInformer},
		{"metadata informer", metadataInformer},
		{"manager", manager},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		err := each.run(ctx, config, *namespace)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("nothing came within %s: %w", limit, err)
		}
		if err != nil {
			failed = true
			fmt.Printf("%s: FAILED: %v\n", each.name, err)
			continue
		}
		fmt.Printf("%s: ok\n", each.name)
	}
	if failed {
		os.Exit(1)
	}
}
