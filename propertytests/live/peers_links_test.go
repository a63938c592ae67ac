package live_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestPeerAliAssarProgramsLinkNoServer: what a program imports brings in neither the NATS server
// nor package testing.
func TestPeerAliAssarProgramsLinkNoServer(t *testing.T) {
	const module = "github.com/rolemanager/rolemanager/"
	args := []string{"list", "-deps"}
	for _, p := range []string{"assign", "election", "event", "fencing", "metrics", "roles"} {
		args = append(args, module+p)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "github.com/nats-io/nats.go") {
		t.Fatal("the client is not among the dependencies: nothing was listed")
	}
	for _, p := range deps {
		if p == "testing" || strings.HasPrefix(p, "github.com/nats-io/nats-server") {
			t.Errorf("a program links %s", p)
		}
	}
}
