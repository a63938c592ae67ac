package protocol

import (
	"errors"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestLastWill: a machine that has failed can close the lease that is known to stand for it, and no
// other one.
func TestLastWill(t *testing.T) {
	for name, c := range map[string]struct {
		before func(g *rig)
		closes bool
	}{
		"it stands": {func(*rig) {}, true},
		"a process of its name has the lease": {func(g *rig) {
			g.rev++
			e := record.Decode(leaseKey, record.Encode(record.Lease{
				V: 1, Session: g.rev, Nonce: "other", TTLms: 6000, State: record.Live,
			}), g.rev, false, g.m.cfg.MaxTTL)
			g.m.view.Merge(g.now.Observer, &e, &g.m.news)
		}, false},
		"it was ended": {func(g *rig) {
			e := record.Decode(leaseKey, record.Encode(record.Lease{
				V: 1, Session: g.m.lease.number, Nonce: g.m.lease.nonce, State: record.Killed, By: "b",
			}), g.rev+1, false, g.m.cfg.MaxTTL)
			g.m.view.Merge(g.now.Observer, &e, &g.m.news)
		}, false},
		"it was removed": {func(g *rig) {
			e := record.Entry{Kind: record.KindLease, Peer: candidate("a"), Form: record.FormMarker, Revision: g.rev + 1}
			g.m.view.Merge(g.now.Observer, &e, &g.m.news)
		}, false},
	} {
		g := newRig(t, nil)
		g.step(Join{RoleConfig{Name: "r"}})
		g.run(3*time.Second, nil)
		session, nonce := g.m.lease.number, g.m.lease.nonce
		if _, _, ok := g.m.LastWill(); ok {
			t.Errorf("%s: a session that continues can be closed", name)
		}
		stands := g.m.self.Revision
		c.before(g)
		g.step(Broken{Fault: errors.New("denied")})
		w, of, ok := g.m.LastWill()
		if ok != c.closes {
			t.Errorf("%s: it can be closed: %v, want %v", name, ok, c.closes)
			continue
		}
		e := record.Decode(w.Key, w.Value, stands+1, w.Delete, g.m.cfg.MaxTTL)
		if ok && (w.Key != leaseKey || w.Expect != stands || of != nonce || e.Lease.State != record.Closed ||
			e.Lease.Session != session || e.Lease.Nonce != nonce) {
			t.Errorf("%s: %+v closes %s", name, w, of)
		}
	}
}
