// load puts one kind of load on an API server and prints what it saw as one line of JSON.
//
//	load create  pods through client-go
//	load list    one list again and again, its bytes thrown away
//	load watch   many watchers of one type while it changes
//
// Each of the -connections clients has a connection of its own, unless -http2 lets them share one as
// client-go does where the server speaks it.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

type options struct {
	config      *rest.Config
	count       int
	connections int
	size        int
	http2       bool
	path        string
	rate        int
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run() error {
	verbs := map[string]func(context.Context, options) (any, error){"create": create, "list": list, "watch": watch}
	if len(os.Args) < 2 || verbs[os.Args[1]] == nil {
		return fmt.Errorf("want create, list or watch")
	}
	var asked options
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", os.Getenv("KUBECONFIG"), "where the server is")
	flags.IntVar(&asked.count, "count", 5000, "pods to create, lists to make, or changes to watch")
	flags.IntVar(&asked.connections, "connections", 32, "clients at once, or watchers")
	flags.IntVar(&asked.size, "size", 1536, "bytes of a pod as JSON")
	flags.BoolVar(&asked.http2, "http2", false, "one shared HTTP/2 connection")
	flags.StringVar(&asked.path, "path", "/api/v1/namespaces/default/pods", "what to list")
	flags.IntVar(&asked.rate, "rate", 100, "changes a second for the watchers")
	if err := flags.Parse(os.Args[2:]); err != nil {
		return err
	}
	var err error
	if asked.config, err = clientcmd.BuildConfigFromFlags("", *kubeconfig); err != nil {
		return err
	}
	asked.config.QPS = -1
	asked.config.ContentType = "application/json"
	asked.config.AcceptContentTypes = "application/json"
	seen, err := verbs[os.Args[1]](context.Background(), asked)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(seen)
}

// clientOf returns an HTTP client with the credentials of the kubeconfig and connections of its own.
func clientOf(asked options) (*http.Client, error) {
	config := rest.CopyConfig(asked.config)
	// client-go shares transports among equal configurations; one with a proxy function is never equal.
	config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	if !asked.http2 {
		config.NextProtos = []string{"http/1.1"}
	}
	return rest.HTTPClientFor(config)
}

// tlsOf returns what a bare connection to the server needs.
func tlsOf(config *rest.Config) (*tls.Config, error) {
	of, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	of.NextProtos = []string{"http/1.1"}
	return of, nil
}

// dial connects to the server; the host is what requests name.
func dial(asked options) (connection *tls.Conn, host string, err error) {
	server, err := url.Parse(asked.config.Host)
	if err != nil {
		return nil, "", err
	}
	secrets, err := tlsOf(asked.config)
	if err != nil {
		return nil, "", err
	}
	connection, err = tls.Dial("tcp", server.Host, secrets)
	return connection, server.Host, err
}

// quantile of the sorted durations, in milliseconds.
func quantile(sorted []time.Duration, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := min(int(share*float64(len(sorted))), len(sorted)-1)
	return float64(sorted[at].Microseconds()) / 1000
}

func sortedOf(durations []time.Duration) []time.Duration {
	sorted := slices.Clone(durations)
	slices.Sort(sorted)
	return sorted
}
