package inventory

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestARoleIsDeadSinceTheEndOfItsLeader: a role whose leader was killed is without a leader since
// that moment, however long the leader had led, also for a view that opens afterwards.
func TestARoleIsDeadSinceTheEndOfItsLeader(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		kv := newBucket(t, nc)
		put := func(key, format string, args ...any) uint64 {
			t.Helper()
			revision, err := kv.Put(t.Context(), key, fmt.Appendf(nil, format, args...))
			if err != nil {
				t.Fatal(err)
			}
			return revision
		}
		session := put("c.lease.a", `{"v":1,"session":0,"nonce":"n","ttl_ms":1000,"beat":1,"state":"live"}`)
		put("c.role.r", `{"v":1,"ttl_ms":1000,"id":"a","session":%d,"token":"0b5b8b8e-0000-4000-8000-000000000000"}`, session)
		time.Sleep(time.Hour)
		put("c.lease.a", `{"v":1,"session":%d,"nonce":"n","ttl_ms":1000,"beat":9,"state":"killed","by":"b"}`, session)
		time.Sleep(6 * time.Second)

		o, err := election.Observe(t.Context(), nc, "roles")
		if err != nil {
			t.Fatal(err)
		}
		l, err := OpenRecords(t.Context(), nc, natskv.Reach{}, "roles", false, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := &View{o, l}
		defer v.Close()
		info, _ := v.Role("r")
		d := v.DescribeRole(info)
		end, _ := v.Record("c.lease.a")
		if d.State != election.RoleDead || d.Age.Round(time.Second) != 6*time.Second ||
			d.AgeSeconds < 5.5 || d.AgeSeconds > 6.5 || d.LastSeenSeconds < 5.5 || d.LastSeenSeconds > 6.5 ||
			d.Ended.Sub(end.Time).Abs() > time.Second/2 {
			t.Errorf("6 s after the end of a, at %v: %+v", end.Time, d)
		}
	})
}
