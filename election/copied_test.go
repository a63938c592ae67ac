package election_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestCopiedBucket: a stream with the metadata of another one is refused, by sessions and
// observers, and both places are told. So is one that is being adopted, until that has ended.
func TestCopiedBucket(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		b, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: bucket, MaxTTL: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		describe(t, nc, func(m map[string]string) { m["rolemanager.cluster"] = "east" })
		err = unopened(t, instance("a")).Open(t.Context(), nc)
		copied := (*election.CopiedBucketError)(nil)
		if !errors.Is(err, election.ErrCopiedBucket) || !errors.As(err, &copied) || copied.Written.Cluster != "east" ||
			copied.Found.Cluster != "" || !strings.Contains(err.Error(), `"rolectl bucket adopt roles"`) {
			t.Errorf("a session: %v", err)
		}
		if _, err := election.Observe(t.Context(), nc, bucket); !errors.Is(err, election.ErrCopiedBucket) {
			t.Errorf("an observer: %v", err)
		}
		a, err := (natskv.Reach{}).Owner(nc, bucket).Adopt(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		session, opened := unopened(t, instance("b")), make(chan error, 1)
		go func() { opened <- session.Open(t.Context(), nc) }()
		time.Sleep(10 * time.Second)
		none(t, "it opens while the bucket is being adopted", opened)
		floor, err := a.Purge(t.Context())
		if err == nil {
			_, err = a.Finish(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := receive(t, "it opens", opened); err != nil {
			t.Error(err)
		}
		began := time.Now()
		_, term := lead(t, session, election.RoleConfig{Role: "r"})
		if term.Epoch() < floor || time.Since(began) > 2*time.Second { // L_max is one
			t.Errorf("it leads at epoch %d after %v, floor %d", term.Epoch(), time.Since(began), floor)
		}
		if b.Identity().ID == "" {
			t.Error("a bucket without an id")
		}
	})
}

func describe(t *testing.T, nc *nats.Conn, change func(map[string]string)) {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), "KV_"+bucket)
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.CachedInfo().Config
	change(cfg.Metadata)
	if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}

// TestMinEpoch: a bucket that has not come to an epoch that it has given has gone back.
func TestMinEpoch(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		first := open(t, s, instance("a"))
		_, term := lead(t, first, election.RoleConfig{Role: "r"})
		known := instance("b")
		known.MinEpoch = term.Epoch()
		open(t, s, known)
		later := instance("c")
		later.MinEpoch = term.Epoch() + 1_000_000
		err := unopened(t, later).Open(t.Context(), natstest.Connect(t, s))
		if !errors.Is(err, election.ErrStoreRegressed) || !strings.Contains(err.Error(), `"rolectl bucket adopt roles"`) {
			t.Errorf("an epoch that is not there: %v", err)
		}
	})
}
