package envtest

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func pointer[T any](value T) *T { return &value }

// A manager that runs until the test ends.
func run(t *testing.T, manager ctrl.Manager) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		check(t, <-ended)
	})
}

func TestAManagerLeadsAndReconciles(t *testing.T) {
	config := begin(t, &envtest.Environment{})
	manager := must(ctrl.NewManager(config, ctrl.Options{
		LeaderElection: true, LeaderElectionID: "suite", LeaderElectionNamespace: "default", LeaderElectionReleaseOnCancel: true,
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{"default": {}}},
	}))(t)
	done := make(chan string, 10)
	check(t, ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Complete(
		reconciler(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
			found := &corev1.ConfigMap{}
			if err := manager.GetClient().Get(ctx, request.NamespacedName, found); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			if found.Labels["seen"] == "" {
				found.Labels = map[string]string{"seen": "yes"}
				return ctrl.Result{}, manager.GetClient().Update(ctx, found)
			}
			done <- request.Name
			return ctrl.Result{}, nil
		})))
	run(t, manager)
	writer := clientOf(t, config)
	check(t, writer.Create(bounded(t), configMap("reconciled")))
	select {
	case name := <-done:
		if name != "reconciled" {
			t.Fatalf("%s is done", name)
		}
	case <-time.After(limit):
		t.Fatal("it is never done")
	}
	check(t, writer.Get(bounded(t), client.ObjectKey{Namespace: "default", Name: "suite"}, &coordinationv1.Lease{}))
}

type reconciler func(context.Context, ctrl.Request) (ctrl.Result, error)

func (r reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return r(ctx, request)
}

func TestAWebhookOfTheSuiteDecides(t *testing.T) {
	environment := &envtest.Environment{WebhookInstallOptions: envtest.WebhookInstallOptions{
		ValidatingWebhooks: []*admissionregistrationv1.ValidatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "suite"},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "names.suite.muster.dev", AdmissionReviewVersions: []string{"v1"},
				SideEffects: pointer(admissionregistrationv1.SideEffectClassNone),
				ClientConfig: admissionregistrationv1.WebhookClientConfig{
					Service: &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "suite", Path: pointer("/names")}},
				Rules: []admissionregistrationv1.RuleWithOperations{{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				}},
			}},
		}}}}
	config := begin(t, environment)
	where := environment.WebhookInstallOptions
	hooks := webhook.NewServer(webhook.Options{Host: where.LocalServingHost, Port: where.LocalServingPort, CertDir: where.LocalServingCertDir})
	hooks.Register("/names", &webhook.Admission{Handler: admission.HandlerFunc(
		func(_ context.Context, request admission.Request) admission.Response {
			if request.Name == "bad" {
				return admission.Denied("bad is no name")
			}
			return admission.Allowed("")
		})})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- hooks.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		check(t, <-ended)
	})
	waitUntilServed(t, net.JoinHostPort(where.LocalServingHost, strconv.Itoa(where.LocalServingPort)), hooks)
	writer := clientOf(t, config)
	if err := writer.Create(bounded(t), configMap("bad")); !apierrors.IsForbidden(err) {
		t.Fatalf("what the webhook denies is %v", err)
	}
	check(t, writer.Create(bounded(t), configMap("good")))
}

// The server says itself when it has begun.
func waitUntilServed(t *testing.T, address string, hooks webhook.Server) {
	t.Helper()
	started := hooks.StartedChecker()
	for end := time.Now().Add(limit); ; time.Sleep(10 * time.Millisecond) {
		err := started(&http.Request{})
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %v", address, err)
		}
	}
}
