package guides

import (
	"context"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assigntest"
)

// TestTenants: the letters of two tenants are sent.
func TestTenants(t *testing.T) {
	n := assigntest.Start(t, func(a *assign.Assigner) {
		err := assign.Handle(a, send, func(_ context.Context, t *assign.Task[Letter]) (string, error) {
			return "sent to " + t.Input.To, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	for tenant, to := range map[string]string{"acme": "ann", "umbrella": "bob"} {
		p, err := assign.Submit(t.Context(), n, send, Letter{Tenant: tenant, To: to})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Wait(t.Context()); got != "sent to "+to || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
}
