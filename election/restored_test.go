package election_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestRestoredBucket: a server comes back with an earlier state of its store, as from a backup.
// Sessions that have seen more end, and say why, instead of having every write of theirs refused
// for ever; also those that come back when others have written more than was lost. So does an
// observer. New sessions begin as ever.
func TestRestoredBucket(t *testing.T) {
	t.Parallel()
	for _, since := range []int{0, 2000} {
		t.Run(fmt.Sprint(since, " writes since"), func(t *testing.T) {
			t.Parallel()
			dir, backup := t.TempDir(), t.TempDir()
			s := natstest.Server(t, natstest.StoreIn(dir))
			link := s.Link()
			again := append(link.Options(), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond),
				nats.ReconnectBufSize(-1))
			first := instance("a")
			first.Storage, first.TTL = jetstream.FileStorage, 3*time.Second // a busy machine stands still for a second
			a := open(t, s, first, again...)
			lead(t, a, election.RoleConfig{Role: "r"})
			o, err := election.Observe(t.Context(), natstest.Connect(t, s, again...), bucket)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(o.Close)
			s.Stop()
			copyStore(t, dir, backup)
			restart(t, s)
			for i := range 10 {
				lead(t, a, election.RoleConfig{Role: fmt.Sprint("later-", i)})
			}
			// A record that is in the backup too, and is newer now, is the proof when others have
			// written more than was lost.
			natstest.Eventually(t, "the observer has seen the record of its member", time.Minute, func() (bool, string) {
				all := o.Members()
				return len(all) == 1 && slices.Contains(all[0].Roles, "later-9"), sprint(all)
			})

			link.Cut()
			s.Stop()
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			copyStore(t, backup, dir)
			restart(t, s)
			write(t, s, since)
			link.Heal()
			link.Reset() // the kernel would tell them sooner or later that the server was down
			receive(t, "the session has ended", after(a.Done()))
			if err := a.Err(); !errors.Is(err, election.ErrStoreRegressed) {
				t.Errorf("the session ended with %v, want %v", err, election.ErrStoreRegressed)
			}
			receive(t, "the observer has ended", after(o.Done()))
			if err := o.Err(); !errors.Is(err, election.ErrStoreRegressed) {
				t.Errorf("the observer ended with %v, want %v", err, election.ErrStoreRegressed)
			}
			lead(t, open(t, s, instance("b")), election.RoleConfig{Role: "r"})
		})
	}
}

func copyStore(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

func restart(t *testing.T, s *natsrun.Server) {
	t.Helper()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
}

// write stores n records in the bucket that are neither sessions nor roles.
func write(t *testing.T, s *natsrun.Server, n int) {
	t.Helper()
	nc := natstest.Connect(t, s)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := kv.Put(t.Context(), fmt.Sprint("probe.", i%10), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
}
