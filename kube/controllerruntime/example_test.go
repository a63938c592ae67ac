package controllerruntime_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/rolemanager/rolemanager/kube/controllerruntime"
	"github.com/rolemanager/rolemanager/roles"
)

// serve runs a NATS server in this process, for the example; a program connects to one that is
// there.
func serve() (*server.Server, func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, JetStream: true, StoreDir: dir})
	if err != nil {
		log.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		log.Fatal("the server did not come up")
	}
	return s, func() {
		s.Shutdown()
		s.WaitForShutdown()
		_ = os.RemoveAll(dir) // a temporary directory
	}
}

// A controller runs in the terms of a role. A real one is made with controller.NewUnmanaged, of a
// manager whose configuration is that of the cluster.
func ExampleRunnable() {
	s, shutdown := serve()
	defer shutdown()
	m, err := roles.New(roles.Config{URL: s.ClientURL(), Bucket: "roles", BucketAutoCreate: true})
	if err != nil {
		log.Fatal(err)
	}
	// For the example: no cluster is asked for anything.
	mgr, err := manager.New(&rest.Config{Host: "http://127.0.0.1:1"}, manager.Options{
		Metrics: metrics.Options{BindAddress: "0"},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return meta.NewDefaultRESTMapper(nil), nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	build := func() (manager.Runnable, error) {
		return manager.RunnableFunc(func(ctx context.Context) error {
			fmt.Println("the controller runs")
			stop() // for the example: the process is told to end
			<-ctx.Done()
			fmt.Println("the controller has stopped")
			return nil
		}), nil
	}
	if err := mgr.Add(controllerruntime.Runnable(m, roles.Role{Name: "operator"}, build)); err != nil {
		log.Fatal(err)
	}

	// The manager of the roles runs as long as that of the controllers does, and ends after it.
	roleCtx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(roleCtx) }()
	fmt.Println("controllers:", mgr.Start(ctx))
	end()
	fmt.Println("roles:", <-ended)
	// Output:
	// the controller runs
	// the controller has stopped
	// controllers: <nil>
	// roles: <nil>
}
