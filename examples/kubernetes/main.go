// Command kubernetes is an operator with two controllers that are led apart: each has a role, so
// two pods may lead one each. When a pod ends, the other one builds its controller.
//
//	nats-server -js                                  # or: go run ./cmd/rolectl dev
//	cd examples/kubernetes && go run .               # in two terminals, with a KUBECONFIG
package main

import (
	"cmp"
	"context"
	"errors"
	"log"
	"os"

	"github.com/go-logr/logr"
	"github.com/nats-io/nats.go"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/rolemanager/rolemanager/kube/controllerruntime"
	"github.com/rolemanager/rolemanager/roles"
)

func main() {
	ctrl.SetLogger(logr.Discard())
	if err := operate(ctrl.SetupSignalHandler()); err != nil {
		log.Fatal(err)
	}
}

func operate(ctx context.Context) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	// No leader election of the manager: its caches are warm in each pod.
	mgr, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	url := cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL)
	m, err := roles.New(roles.Config{
		URL: url, Bucket: "roles", BucketAutoCreate: true, InstanceID: os.Getenv("POD_NAME"),
	})
	if err != nil {
		return err
	}
	for name, kind := range map[string]client.Object{"configs": &corev1.ConfigMap{}, "quotas": &corev1.ResourceQuota{}} {
		// Spread and Group: two pods lead one controller each, and one that is alone leads both.
		role := roles.Role{Name: name, Spread: true, Group: "operator"}
		build := func() (manager.Runnable, error) { return build(mgr, name, kind) }
		if err := mgr.Add(controllerruntime.Runnable(m, role, build)); err != nil {
			return err
		}
	}
	serving, leave := context.WithCancel(context.WithoutCancel(ctx)) // m runs until the manager has stopped
	defer leave()
	ended := make(chan error, 1)
	go func() { ended <- m.Run(serving) }()
	err = mgr.Start(ctx)
	leave()
	return errors.Join(err, <-ended)
}

// build makes a controller for one term.
func build(mgr manager.Manager, name string, kind client.Object) (manager.Runnable, error) {
	skip := true // the name is used again in the next term
	work := reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
		log.Printf("%s reconciles %s", name, r)
		return reconcile.Result{}, nil
	})
	c, err := controller.NewUnmanaged(name, controller.Options{Reconciler: work, SkipNameValidation: &skip})
	if err != nil {
		return nil, err
	}
	return c, c.Watch(source.Kind(mgr.GetCache(), kind, &handler.EnqueueRequestForObject{}))
}
