package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "example.org/copied"

// copier keeps a Secret as a copy of each ConfigMap with the label copy=true, and a finalizer on the original.
type copier struct {
	client.Client
	steps chan string
}

func (c *copier) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var original corev1.ConfigMap
	if err := c.Get(ctx, request.NamespacedName, &original); err != nil {
		if apierrors.IsNotFound(err) {
			c.steps <- "gone"
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if original.Labels["copy"] != "true" {
		return ctrl.Result{}, nil
	}
	if !original.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(&original, finalizer) {
			// An update of an object that the cache has not caught up with is a conflict, and no release.
			if err := c.Update(ctx, &original); err != nil {
				return ctrl.Result{}, err
			}
			c.steps <- "released"
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(&original, finalizer) {
		return ctrl.Result{}, c.Update(ctx, &original)
	}
	copied := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: original.Name, Namespace: original.Namespace}}
	result, err := controllerutil.CreateOrUpdate(ctx, c.Client, copied, func() error {
		copied.StringData = nil
		if string(copied.Data["value"]) != original.Data["value"] {
			copied.Data = map[string][]byte{"value": []byte(original.Data["value"])}
		}
		return controllerutil.SetControllerReference(&original, copied, c.Scheme())
	})
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return ctrl.Result{Requeue: true}, nil
	}
	if err == nil && result != controllerutil.OperationResultNone {
		c.steps <- fmt.Sprintf("%s %s", result, original.Data["value"])
	}
	return ctrl.Result{}, err
}

// manager runs a controller-runtime manager with its caches, its typed client (which sends protobuf) and leader
// election, and leads it through the life of one object.
func manager(ctx context.Context, config *rest.Config, namespace string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	made, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:        "0",
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		LeaderElection:                true,
		LeaderElectionID:              "copier.example.org",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	copies := &copier{made.GetClient(), make(chan string, 100)}
	if err := ctrl.NewControllerManagedBy(made).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(copies); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- made.Start(ctx) }()

	direct, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	original := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "original", Namespace: namespace,
		Labels: map[string]string{"copy": "true"}}, Data: map[string]string{"value": "1"}}
	if err := direct.Create(ctx, original); err != nil {
		return err
	}
	if err := copies.await(ctx, ended, "created 1"); err != nil {
		return err
	}
	change := client.MergeFrom(original.DeepCopy())
	original.Data["value"] = "2"
	if err := direct.Patch(ctx, original, change); err != nil {
		return err
	}
	if err := copies.await(ctx, ended, "updated 2"); err != nil {
		return err
	}
	var copied corev1.Secret
	if err := direct.Get(ctx, client.ObjectKeyFromObject(original), &copied); err != nil {
		return err
	}
	if !metav1.IsControlledBy(&copied, original) || string(copied.Data["value"]) != "2" {
		return fmt.Errorf("the copy is not what its controller wrote: %v %v", copied.OwnerReferences, copied.Data)
	}
	if err := direct.Delete(ctx, original); err != nil {
		return err
	}
	if err := copies.await(ctx, ended, "released", "gone"); err != nil {
		return err
	}
	cancel()
	return <-ended
}

func (c *copier) await(ctx context.Context, ended <-chan error, wanted ...string) error {
	for _, want := range wanted {
		select {
		case got := <-c.steps:
			if got != want {
				return fmt.Errorf("%q was awaited, %q came", want, got)
			}
		case err := <-ended:
			return fmt.Errorf("the manager ended before %q: %w", want, err)
		case <-ctx.Done():
			return fmt.Errorf("%q never came: %w", want, ctx.Err())
		}
	}
	return nil
}
