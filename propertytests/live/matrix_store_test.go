package live_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

const stream = "KV_" + elections.Bucket

// bucketChanged is every way in which a bucket that was recreated shows.
var bucketChanged = []error{election.ErrBucketNotFound, election.ErrOtherBucket, election.ErrStoreRegressed}

func jetStream(a *elections.Arena) jetstream.JetStream {
	a.TB.Helper()
	js, err := jetstream.New(a.Operator())
	if err != nil {
		a.TB.Fatal(err)
	}
	return js
}

func put(a *elections.Arena, key, value string) {
	a.TB.Helper()
	kv, err := a.KV()
	if err != nil {
		a.TB.Fatal(err)
	}
	if _, err := kv.Put(a.TB.Context(), key, []byte(value)); err != nil {
		a.TB.Fatal(err)
	}
}

// ends waits until every session has ended, with that error.
func ends(a *elections.Arena, limit time.Duration, want ...error) {
	a.TB.Helper()
	for _, p := range a.Processes() {
		a.Await(p.String()+" ends", role, limit, func() bool {
			select {
			case <-p.Session.Done():
				return true
			default:
				return false
			}
		})
		err := p.Session.Err()
		if !anyOf(err, want) {
			a.TB.Errorf("%s ended with %v, want one of %v", p, err, want)
		}
		if p.Leads(role) {
			a.TB.Errorf("%s leads after the end of its session", p)
		}
	}
}

func anyOf(err error, kinds []error) bool {
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// TestBucketDeletion: the bucket is deleted under everybody: all end at once, with an error that
// names it and its remedy.
func TestBucketDeletion(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		a.Expect = []error{election.ErrBucketNotFound}
		crowd(a, 3)
		if err := jetStream(a).DeleteStream(t.Context(), stream); err != nil {
			t.Fatal(err)
		}
		ends(a, ttl, election.ErrBucketNotFound)
		for _, p := range a.Processes() {
			if err := p.Session.Err(); !strings.Contains(err.Error(), "rolectl bucket create") {
				t.Errorf("%v: no command that makes the bucket", err)
			}
		}
		if h := holds(a, 1); h[0].Drained.IsZero() {
			t.Errorf("the work of the leader continues: %v", h[0])
		}
	})
}

// TestBucketRecreated: the bucket is deleted and recreated at once. All end, and epochs continue
// increasing in the new one.
func TestBucketRecreated(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		a.Expect = bucketChanged
		crowd(a, 3)
		time.Sleep(time.Minute)
		if err := jetStream(a).DeleteStream(t.Context(), stream); err != nil {
			t.Fatal(err)
		}
		if _, err := natskv.Create(t.Context(), a.Operator(),
			natskv.Config{Bucket: elections.Bucket, Storage: jetstream.MemoryStorage}); err != nil {
			t.Fatal(err)
		}
		ends(a, ttl, bucketChanged...)
		late := a.Join(plan("late"))
		a.AwaitLead(late, role, ttl)
		if h := holds(a, 2); h[1].Epoch <= h[0].Epoch {
			t.Errorf("epochs went back with the bucket: %v", h)
		}
	})
}

// TestTokenChangedInKV: somebody writes over the leader's record. The leader stops when it sees it,
// and nobody follows before a leader that has not seen it would have stopped.
func TestTokenChangedInKV(t *testing.T) {
	for name, value := range map[string]string{
		"another token":  `{"v":1,"id":"p1","session":%d,"token":"00000000-0000-0000-0000-000000000000","ttl_ms":10000}`,
		"another holder": `{"v":1,"id":"nobody","session":1,"token":"x","ttl_ms":10000}`,
		"garbage":        `token`,
		"vacant":         `{"v":1,"vacant":true,"forced":true,"by":"somebody","ttl_ms":10000}`,
	} {
		t.Run(name, func(t *testing.T) {
			inArena(t, func(t *testing.T, a *elections.Arena) {
				all := crowd(a, 3)
				changed := time.Now()
				put(a, "c.role."+role, strings.ReplaceAll(value, "%d", number(bridge.Number(all[0].Session))))
				a.Await("the leader stops", role, soon, func() bool { return !all[0].Leads(role) })
				a.AwaitLeader(role, 3*time.Minute)
				h := holds(a, 2)
				if !errors.Is(h[0].Cause, election.ErrEvicted) {
					t.Errorf("cause %v, want ErrEvicted", h[0].Cause)
				}
				if waited := h[1].From.Sub(changed); waited < ttl {
					t.Errorf("a successor leads after %v, want not before %v", waited, ttl)
				}
			})
		})
	}
}

// TestServerRestart: the server restarts on its files: soon, and the leader stays; late, and the
// term has ended by then. A bucket in memory is gone with the server: then all end with an error
// that says so.
func TestServerRestart(t *testing.T) {
	restart := func(a *elections.Arena, down time.Duration) {
		a.Server.Stop()
		time.Sleep(down)
		if err := a.Server.Restart(); err != nil {
			a.TB.Fatal(err)
		}
	}
	t.Run("soon", func(t *testing.T) {
		inStoredArena(t, jetstream.FileStorage, func(t *testing.T, a *elections.Arena) {
			all := crowd(a, 3)
			for range 5 {
				restart(a, heartbeat)
				time.Sleep(2 * ttl)
			}
			if h := holds(a, 1); len(h) != 1 || !all[0].Leads(role) {
				t.Errorf("a short restart cost the role: %v", h)
			}
		})
	})
	t.Run("late", func(t *testing.T) {
		inStoredArena(t, jetstream.FileStorage, func(t *testing.T, a *elections.Arena) {
			crowd(a, 3)
			restart(a, 2*ttl)
			up := time.Now()
			a.AwaitLeader(role, 5*ttl)
			within(a, "restart to takeover", up, time.Now(), 2*ttl)
			if h := holds(a, 2); h[0].Epoch >= h[1].Epoch {
				t.Errorf("the old term was resumed: %v", h)
			}
		})
	})
	t.Run("in memory", func(t *testing.T) {
		inArena(t, func(t *testing.T, a *elections.Arena) {
			a.Expect = bucketChanged
			crowd(a, 3)
			restart(a, heartbeat)
			ends(a, ttl, bucketChanged...)
		})
	})
}

// TestWatchThatDies: the server forgets every consumer, again and again. Each process makes a new
// watch in time; the leader does not lose its role over it.
func TestWatchThatDies(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		all := crowd(a, 3)
		killed := 0
		for range 20 {
			time.Sleep(3 * ttl)
			killed += dropConsumers(t.Context(), a)
		}
		time.Sleep(3 * ttl)
		if killed < 20*3 {
			t.Errorf("%d consumers were killed, want 3 each time at least", killed)
		}
		if h := holds(a, 1); len(h) != 1 || !all[0].Leads(role) {
			t.Errorf("a lost watch cost the role: %v", h)
		}
		before := time.Now()
		all[0].Crash()
		a.AwaitLead(all[1], role, 3*ttl)
		within(a, "crash to takeover", before, time.Now(), ttl+soon)
	})
}

func dropConsumers(ctx context.Context, a *elections.Arena) (n int) {
	a.TB.Helper()
	s, err := jetStream(a).Stream(ctx, stream)
	if err != nil {
		a.TB.Fatal(err)
	}
	for name := range s.ConsumerNames(ctx).Name() {
		if err := s.DeleteConsumer(ctx, name); err != nil {
			a.TB.Fatal(err)
		}
		n++
	}
	return n
}

// TestGarbageInAnyKey: whatever stands at a key is reported, waited for and written over by whose
// key it is, and nobody writes faster for it.
func TestGarbageInAnyKey(t *testing.T) {
	const watched = time.Minute
	for name, value := range map[string]string{"text": "garbage", "a lease without end": `{"v":1,"state":"live","nonce":"x","ttl_ms":99999999999,"beat":1}`} {
		t.Run(name, func(t *testing.T) {
			inArena(t, func(t *testing.T, a *elections.Arena) {
				crowd(a, 3)
				for _, key := range []string{
					"c.role." + role, "c.lease.p1", "c.lease.p2", "c.member.p1", "c.member.p3", "probe.p1",
					"c.lease.stranger", "c.member.stranger", "c.role.stranger", "stranger",
				} {
					before := a.RecordLog.Writes()[key]
					ignored := a.Tally.Count("RecordIgnored")
					put(a, key, value)
					time.Sleep(watched)
					a.AwaitLeader(role, 3*time.Minute)
					if isRecord := !strings.HasPrefix(key, "probe") && key != "stranger"; isRecord &&
						a.Tally.Count("RecordIgnored") == ignored {
						t.Errorf("%s: nobody reported the garbage", key)
					}
					if n := a.RecordLog.Writes()[key] - before; n > int(watched/heartbeat)+10 {
						t.Errorf("%s was written %d times in %v", key, n, watched)
					}
				}
			})
		})
	}
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
