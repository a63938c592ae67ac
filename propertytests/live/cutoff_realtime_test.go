//go:build realtime

package live_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// TestRealtimeClusterCutOff: of five servers three keep the bucket, two of which continue by
// themselves while the third is cut off from them, with the other two servers. There watches can be
// made, but the stream has no leader, and a client that asks is told how far that one replica is. A
// process that has seen more on the other side, and now reaches only this replica, waits for as
// long as it takes: nothing is lost.
func TestRealtimeClusterCutOff(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	playEach(t, "the clients of a majority moved to the replica that was cut off from it", cutOff)
}

func cutOff(t *testing.T, _ int, all *counts) {
	r := &restored{t: t, dir: t.TempDir()}
	r.c = natstest.Cluster(t, func(o *natsrun.ClusterOptions) { o.Dir, o.Size = r.dir, 5 })
	s := r.join("a")
	o, err := election.Observe(t.Context(), r.connect(), elections.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	replicas := r.replicas()
	majority := replicas[:2]
	minority := slices.DeleteFunc([]int{0, 1, 2, 3, 4}, func(i int) bool { return slices.Contains(majority, i) })

	reach := func(servers, not []int) {
		for _, i := range servers {
			r.c.Front(i).Heal()
		}
		for _, i := range not {
			r.c.Front(i).Cut()
		}
	}
	reach(majority, minority)
	e := r.leads(s, "other") // so it has come over
	natstest.Eventually(t, "the observer has come over", patience, func() (bool, string) {
		seen, _ := o.Role("other")
		return seen.Leader == "a", fmt.Sprintf("%+v", seen)
	})
	if err := r.c.Partition(majority); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the majority continues by itself", patience, func() (bool, string) {
		ahead, behind := r.last(replicas[0]), r.last(replicas[2])
		// beats, which were acknowledged
		return ahead >= behind+2, fmt.Sprintf("revision %d, and %d on the other side", ahead, behind)
	})

	reach(minority, majority)
	over := time.NewTimer(view.BackPatience + 15*time.Second)
	defer over.Stop()
	select {
	case <-s.Done():
		t.Fatalf("the session has ended: %v", s.Err())
	case <-o.Done():
		t.Fatalf("the observer has ended: %v", o.Err())
	case <-over.C:
	}
	r.c.HealPartition()
	reach(slices.Concat(majority, minority), nil)
	natstest.Eventually(t, "the session leads again, and the observer says so", patience, func() (bool, string) {
		seen, _ := o.Role("other")
		return e.IsLeader() && seen.Leader == "a" && seen.Epoch == e.Token().Epoch,
			fmt.Sprintf("%+v, %v; %+v, %v", e.Status(), s.Err(), seen, o.Err())
	})
	all.add(1, "majorities that have lost their clients")
	all.add(2, "sessions and observers that continued")
}

// last is the last revision of the bucket as one server has it.
func (r *restored) last(i int) (last uint64) {
	r.t.Helper()
	info, err := r.c.Server(i).Running().Jsz(&server.JSzOptions{Accounts: true, Streams: true})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, account := range info.AccountDetails {
		for _, s := range account.Streams {
			if s.Name == stream {
				last = s.State.LastSeq
			}
		}
	}
	return last
}

// replicas are the servers that keep the bucket, the one that leads its stream first.
func (r *restored) replicas() (all []int) {
	r.t.Helper()
	js, err := jetstream.New(r.connect())
	if err != nil {
		r.t.Fatal(err)
	}
	s, err := js.Stream(r.t.Context(), stream)
	if err != nil {
		r.t.Fatal(err)
	}
	cluster := s.CachedInfo().Cluster
	names := []string{cluster.Leader}
	for _, p := range cluster.Replicas {
		names = append(names, p.Name)
	}
	for _, name := range names {
		i, err := strconv.Atoi(strings.TrimPrefix(name, "n"))
		if err != nil {
			r.t.Fatalf("a server by the name of %q: %v", name, err)
		}
		all = append(all, i)
	}
	return all
}
