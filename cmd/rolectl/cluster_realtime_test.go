//go:build realtime

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestClusterDoctor: it looks at every server, and says how the bucket is kept.
func TestClusterDoctor(t *testing.T) {
	c := natstest.Cluster(t)
	p := &place{t: t, env: append(clean(t), "NATS_URL="+c.URLs())}
	p.ok("bucket", "create", "alone")
	d, code := p.diagnosis("--bucket", "alone")
	if code != doctorWarning || !d.has("replicas", "warning", "kept on one server of a cluster") || len(servers(d)) != 3 {
		t.Errorf("one replica: %d, %+v", code, d)
	}
	p.ok("bucket", "create", "roles", "--replicas", "3")
	for _, id := range []string{"a", "b"} {
		s, err := election.NewSession(election.SessionConfig{Bucket: "roles", InstanceID: id})
		if err != nil {
			t.Fatal(err)
		}
		nc, err := c.Connect()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		if err := s.Open(t.Context(), nc); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close(context.Background()) })
		contend(t, s, election.RoleConfig{Role: "scheduler"})
	}
	natstest.Eventually(t, "all is well", 2*patience, func() (bool, string) {
		d, code := p.diagnosis()
		return code == 0 && d.has("replicas", "ok", "3"), fmt.Sprint(d)
	})
	leader, ok := c.LeaderOf("KV_roles")
	if !ok {
		t.Fatal("the stream has no leader")
	}
	c.Kill(leader) // it says no farewell: the servers call it offline minutes later
	natstest.Eventually(t, "a server is missed", 2*patience, func() (bool, string) {
		d, code := p.diagnosis()
		return code == doctorWarning && d.has("replicas", "warning", "1 of 3 replicas are offline"), fmt.Sprint(d)
	})
	c.Stop((leader + 1) % 3)
	natstest.Eventually(t, "the quorum is missed", 2*patience, func() (bool, string) {
		d, code := p.diagnosis()
		return code >= doctorCritical, fmt.Sprint(d)
	})
}

// servers are those that the doctor has seen.
func servers(d doctorDoc) (names []string) {
	for _, f := range d.Findings {
		if _, in, ok := strings.Cut(f.Message, "("); ok && f.Check == "server" {
			names = append(names, strings.Split(strings.TrimSuffix(in, ")"), ", ")...)
		}
	}
	return names
}
