package assign_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestTasksOverAnImport: scheduler, worker and submitter are in an account that imports the
// JetStream of another one under a prefix. That account keeps the bucket and the tasks.
func TestTasksOverAnImport(t *testing.T) {
	file, err := server.ProcessConfigFile("testdata/accounts.conf")
	if err != nil {
		t.Fatal(err)
	}
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		home := natstest.Connect(t, s, nats.UserInfo("a", "x"))
		if _, err := natskv.Create(t.Context(), home, natskv.Config{Bucket: "roles"}); err != nil {
			t.Fatal(err)
		}
		cfg := assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true}
		creator, err := assign.NewClient(home, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer creator.Close()
		dead := assign.ListOptions{States: []assign.State{assign.StateDead}}
		if _, err := assign.List(t.Context(), creator, dead); err != nil { // makes the stream
			t.Fatal(err)
		}
		if _, err := assign.CreateObjects(t.Context(), home, cfg); err != nil {
			t.Fatal(err)
		}
		abroad := with{s, []nats.Option{nats.UserInfo("b", "x"), nats.CustomInboxPrefix("_INBOX_b")}}
		imported := func(s *election.SessionConfig, a *assign.Config, _ *bool) {
			s.APIPrefix, s.BucketAutoCreate, a.StreamAutoCreate = "JS.A.API", false, false
		}
		leader(t, newNode(t, abroad, "a", sizing(t), imported))
		nc, err := abroad.Connect()
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, APIPrefix: "JS.A.API"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, size := range []int{10, 700 << 10} {
			p, err := assign.Submit(t.Context(), c, sized, size)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := p.Wait(within(t, time.Minute)); err != nil || !bytes.Equal(out, pattern(size)) {
				t.Errorf("%d bytes, %v", len(out), err)
			}
		}
		page, err := assign.List(t.Context(), c, assign.ListOptions{States: []assign.State{assign.StateSucceeded}})
		if err != nil || len(page.Tasks) != 2 {
			t.Errorf("a list of %d, %v", len(page.Tasks), err)
		}
	}, func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) { so.Accounts, so.Users = file.Accounts, file.Users }
	})
}
