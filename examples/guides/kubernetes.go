package guides

import (
	"context"
	"net/http"
	"os"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/kube"
	"github.com/rolemanager/rolemanager/roles"
)

// inKubernetes takes part in a role whose Service leads to the pod that leads. The address and the
// names of the pod are in its environment.
func inKubernetes(api *kube.Client, lead func(context.Context, *election.Term) error) (*roles.Manager, error) {
	m, err := roles.New(roles.Config{URL: os.Getenv("NATS_URL"), Bucket: "roles", InstanceID: os.Getenv("POD_NAME")})
	if err != nil {
		return nil, err
	}
	service := &kube.LeaderEndpoint{
		Session: m.Session(), Service: "scheduler-leader", Ports: []kube.Port{{Name: "http", Port: 8080}},
		Client: api, // nil in a pod: its service account
	}
	http.Handle("/", m.Handler()) // the probes: /livez and /readyz
	return m, m.Add(roles.Role{Name: "scheduler", Lead: service.Lead(lead)})
}
