package natskv

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestAGuardOverSeveralKeys: the condition is about the last record of all keys with one part more,
// a marker too, and about no other one.
func TestAGuardOverSeveralKeys(t *testing.T) {
	_, nc, b := newBucket(t)
	wr := newWriter(t, nc, b)
	for _, key := range []string{"b.x", "b.x.1.2", "b.xx.1", "q.x.1"} {
		mustWin(t, wr, Write{Key: key})
	}
	under := func(key string, revision uint64) Write {
		return Write{Key: key, Guard: &Guard{Key: "b.x.*", Revision: revision}}
	}
	refused := func(op Write) {
		t.Helper()
		if r := write(t, wr, op, 10*time.Second); r.Outcome != Refused {
			t.Errorf("%s under %+v: %v, %v; want refused", op.Key, op.Guard, r.Outcome, r.Err)
		}
	}
	refused(under("b.x.1", 1))
	first := mustWin(t, wr, under("b.x.1", 0))
	refused(under("b.x.1", 0))
	refused(under("b.x.2", 0))
	second := mustWin(t, wr, under("b.x.2", first))
	refused(under("b.x.1", first))
	third := mustWin(t, wr, Write{Key: "b.x.1", Delete: true, Value: []byte("{}"), TTL: time.Hour, Expect: first})
	refused(under("b.x.3", second))
	mustWin(t, wr, under("elsewhere", third))
	for _, key := range []string{"b.*.x", "*", "b.*.*", ".*", "b.>", "b..*"} {
		op := Write{Key: "k", Guard: &Guard{Key: key}}
		if err := op.check(); err == nil {
			t.Errorf("a guard %q is taken", key)
		}
	}
}

// TestAGuardOverSeveralKeysInACluster: six writers on three servers write as many keys at the same
// time, under one condition that nothing is there. One record is stored at most, also while the
// leader of the stream moves.
func TestAGuardOverSeveralKeysInACluster(t *testing.T) {
	const rounds, writers = 60, 6
	t.Parallel()
	cluster := natstest.Cluster(t)
	b, err := Create(within(t), connect(t, cluster.URLs()), Config{Bucket: "b", Replicas: 3})
	if err != nil {
		t.Fatal(err)
	}
	ws := make([]*Writer, writers)
	var nc *nats.Conn
	for i := range ws {
		nc = connect(t, cluster.URL(i%cluster.Size()), nats.DontRandomize())
		ws[i] = newWriter(t, nc, b)
	}
	won := make([]int, rounds)
	for round := range rounds {
		var writing sync.WaitGroup
		var mu sync.Mutex
		for i, w := range ws {
			writing.Go(func() {
				done := make(chan Result, 1)
				key := fmt.Sprintf("b.%d.", round)
				op := Write{Key: key + fmt.Sprint(i), Guard: &Guard{Key: key + "*"}}
				w.Submit(op, 5*time.Second, func(r Result) { done <- r })
				if r := <-done; r.Outcome == Won {
					mu.Lock()
					won[round]++
					mu.Unlock()
				}
			})
		}
		if round%20 == 10 {
			_, _, _ = cluster.MoveLeader(within(t), "KV_b") // the same server may be elected again
		}
		writing.Wait()
	}
	wins, stored := 0, make([]int, rounds)
	for _, n := range won {
		wins += n
	}
	natstest.Eventually(t, "all that was won is shown", time.Minute, func() (bool, string) {
		clear(stored)
		all := snapshot(t, newWatch(t, nc, b, ">")) // perhaps of a server that lags
		for _, e := range all {
			var round, i int
			if _, err := fmt.Sscanf(e.Key, "b.%d.%d", &round, &i); err != nil {
				t.Fatal(e.Key, err)
			}
			stored[round]++
		}
		return len(all) >= wins, fmt.Sprintf("%d of %d", len(all), wins)
	})
	for round, n := range won {
		if n > 1 || stored[round] > 1 || n > stored[round] {
			t.Errorf("round %d: %d writes won, and %d records are stored", round, n, stored[round])
		}
	}
	if wins < rounds/2 {
		t.Errorf("%d writes won in %d rounds: this proves little", wins, rounds)
	}
}
